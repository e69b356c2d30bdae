import { notifications } from '@mantine/notifications';
import { troubleText } from '@sparkroom/ui';
import { troubleOf } from '../api/trouble.ts';
import { i18n } from '../session/locale.ts';

const closeButtonProps = () => ({ 'aria-label': i18n.t('common.close') });

/** Says in passing that something was done. */
export function notifyDone(message: string): void {
  notifications.show({ message, color: 'room', closeButtonProps: closeButtonProps() });
}

/** Says what went wrong with an action, what is safe and what to do. */
export function notifyError(error: unknown): void {
  const { title, text } = troubleText(i18n.t, troubleOf(error));
  notifications.show({
    title,
    message: text,
    color: 'red',
    autoClose: 10_000,
    role: 'alert',
    closeButtonProps: closeButtonProps(),
  });
}
