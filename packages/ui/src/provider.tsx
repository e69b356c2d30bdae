import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import type { i18n } from 'i18next';
import type { ReactNode } from 'react';
import { I18nextProvider } from 'react-i18next';
import { cssVariables, theme } from './theme.ts';
import './base.css';

const colorScheme = localStorageColorSchemeManager({ key: 'sparkroom.theme' });

export interface UiProviderProps {
  i18n: i18n;
  /** Nonce of the page's content security policy, put on every generated style element. */
  nonce: string;
  children: ReactNode;
}

/** Theme, colour scheme (as the system until chosen) and language for everything below. */
export function UiProvider({ i18n, nonce, children }: UiProviderProps) {
  return (
    <I18nextProvider i18n={i18n}>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariables}
        colorSchemeManager={colorScheme}
        defaultColorScheme="auto"
        getStyleNonce={() => nonce}
      >
        {children}
      </MantineProvider>
    </I18nextProvider>
  );
}
