import { Skeleton, Stack, VisuallyHidden } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from './states.module.css';

export interface SkeletonsProps {
  /** How many blocks. */
  count?: number;
  /** Height of each in rem. */
  height?: number;
}

/** Placeholder while something loads; not seen before 200 ms, so that quick answers do not flicker. */
export function Skeletons({ count = 3, height = 6 }: SkeletonsProps) {
  const { t } = useTranslation();
  return (
    <Stack className={classes.skeleton} role="status" aria-busy="true">
      <VisuallyHidden>{t('common.loading')}</VisuallyHidden>
      {Array.from({ length: count }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: placeholders are alike and never move
        <Skeleton key={i} height={`${height}rem`} radius="md" />
      ))}
    </Stack>
  );
}
