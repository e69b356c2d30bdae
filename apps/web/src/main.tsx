import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import { Notifications } from '@mantine/notifications';
import { intlLocale, UiProvider } from '@sparkroom/ui';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { RouterProvider } from 'react-router/dom';
import { queryClient } from './api/client.ts';
import { router } from './router.tsx';
import { currentLocale, i18n } from './session/locale.ts';

const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
// Where the dialogs' scroll lock looks for the nonce of the style element it makes.
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = nonce;
document.documentElement.lang = intlLocale[currentLocale()];

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no element with the id "root"');
createRoot(root).render(
  <StrictMode>
    <UiProvider i18n={i18n} nonce={nonce}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Notifications position="bottom-center" autoClose={5000} />
      </QueryClientProvider>
    </UiProvider>
  </StrictMode>,
);
