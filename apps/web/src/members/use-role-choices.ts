import type { Role } from '@sparkroom/contract';
import { useTranslation } from 'react-i18next';

const ROLES: readonly Role[] = ['owner', 'editor', 'member', 'viewer'];

/** Roles for a Select, strongest first. */
export function useRoleChoices(): Array<{ value: Role; label: string }> {
  const { t } = useTranslation();
  return ROLES.map((value) => ({ value, label: t(`role.${value}`) }));
}
