import { Button } from '@mantine/core';
import { ErrorState, troubleText } from '@sparkroom/ui';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { troubleOf } from '../api/trouble.ts';

/** A whole page that cannot be shown. What is not there does not come by asking again: that leads home instead. */
export function PageTrouble({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const { t } = useTranslation();
  const trouble = troubleOf(error);
  const { title } = troubleText(t, trouble);
  useEffect(() => {
    document.title = `${title} · Sparkroom`;
  }, [title]);
  const gone = trouble.reason === 'NOT_FOUND' || trouble.reason === 'INVALID_INPUT';
  return (
    <ErrorState
      order={1}
      trouble={gone ? { ...trouble, reason: 'NOT_FOUND' } : trouble}
      onRetry={gone ? undefined : onRetry}
      action={
        <Button component={Link} to="/" variant={gone ? 'filled' : 'default'}>
          {t('error.home')}
        </Button>
      }
    />
  );
}
