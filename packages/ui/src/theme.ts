import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

/** The room: indigo-violet, the one accent. */
const room: MantineColorsTuple = [
  '#f2f1ff',
  '#e4e2fe',
  '#c9c5fa',
  '#aba5f6',
  '#9189f1',
  '#7a70ea',
  '#6055da',
  '#4f44c4',
  '#40379f',
  '#2f287a',
];

/** Sparks: amber, used for nothing else. */
const spark: MantineColorsTuple = [
  '#fff7e3',
  '#ffebbd',
  '#ffdb8c',
  '#ffca58',
  '#fdb92e',
  '#f0a30f',
  '#b97600',
  '#8f5a00',
  '#6b4300',
  '#4a2e00',
];

const gray: MantineColorsTuple = [
  '#faf9f7',
  '#f4f2ef',
  '#eae7e2',
  '#dedad4',
  '#c7c1b8',
  '#9d958a',
  '#6b645b',
  '#554f48',
  '#39342f',
  '#23201c',
];

const dark: MantineColorsTuple = [
  '#e8e4de',
  '#d3cdc5',
  '#aca59b',
  '#8d867d',
  '#4c4741',
  '#393530',
  '#2a2723',
  '#1e1c19',
  '#171513',
  '#100f0d',
];

const fonts =
  '-apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC", sans-serif';

/** Only for what cannot be undone and for what went wrong. */
const red: MantineColorsTuple = [
  '#fff1f0',
  '#fde3e0',
  '#fac7c2',
  '#f5a29b',
  '#ee7a70',
  '#e25549',
  '#cf3a2d',
  '#b42318',
  '#8f1b12',
  '#6b140d',
];

/** One design language for the web app and the console: tokens only, everything else refers to them. */
export const theme = createTheme({
  primaryColor: 'room',
  primaryShade: { light: 7, dark: 6 },
  colors: { room, spark, red, gray, dark },
  black: '#23201c',
  white: '#ffffff',
  fontFamily: fonts,
  headings: {
    fontFamily: fonts,
    fontWeight: '650',
    textWrap: 'wrap',
    sizes: {
      h1: { fontSize: '1.625rem', lineHeight: '1.25' },
      h2: { fontSize: '1.25rem', lineHeight: '1.3' },
      h3: { fontSize: '1.0625rem', lineHeight: '1.35' },
      h4: { fontSize: '1rem', lineHeight: '1.4' },
      h5: { fontSize: '0.875rem', lineHeight: '1.4' },
      h6: { fontSize: '0.875rem', lineHeight: '1.4' },
    },
  },
  spacing: { xs: '0.5rem', sm: '0.75rem', md: '1rem', lg: '1.5rem', xl: '2rem' },
  radius: { xs: '2px', sm: '4px', md: '8px', lg: '12px', xl: '16px' },
  defaultRadius: 'md',
  shadows: {
    xs: 'none',
    sm: '0 1px 2px rgb(35 32 28 / 6%), 0 4px 16px rgb(35 32 28 / 8%)',
    md: '0 1px 2px rgb(35 32 28 / 6%), 0 4px 16px rgb(35 32 28 / 8%)',
    lg: '0 1px 2px rgb(35 32 28 / 6%), 0 4px 16px rgb(35 32 28 / 8%)',
    xl: '0 1px 2px rgb(35 32 28 / 6%), 0 4px 16px rgb(35 32 28 / 8%)',
  },
  respectReducedMotion: true,
  cursorType: 'pointer',
  components: {
    Modal: {
      defaultProps: { centered: true, overlayProps: { backgroundOpacity: 0.45 } },
      // Titles carry names, which may take several lines.
      styles: {
        title: { fontWeight: 600, lineHeight: 'var(--mantine-line-height)', overflowWrap: 'anywhere' },
      },
    },
    // The placeholder for the first focus is a child that a menu may not have; the first item takes the focus instead.
    Menu: { defaultProps: { shadow: 'sm', withInitialFocusPlaceholder: false } },
    Select: { defaultProps: { allowDeselect: false, checkIconPosition: 'right' } },
  },
});

/** Where Mantine's own choices fall below AA contrast on our greys, or are colder than the room. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-placeholder': 'var(--mantine-color-gray-6)',
    '--mantine-color-default-border': 'var(--mantine-color-gray-3)',
    '--mantine-color-error': '#b42318',
    '--mantine-color-disabled-color': 'var(--mantine-color-gray-6)',
    '--room-surface': '#ffffff',
    '--room-page': 'var(--mantine-color-gray-0)',
    '--room-line': 'var(--mantine-color-gray-2)',
    '--room-hover': 'var(--mantine-color-gray-1)',
    '--room-accent-soft': 'var(--mantine-color-room-0)',
    '--room-accent-text': 'var(--mantine-color-room-8)',
    '--room-good': '#0f7a4a',
    '--room-good-soft': '#e3f6ec',
    '--room-bad': '#b42318',
    '--room-bad-soft': '#fdecea',
    '--room-wait': '#b97600',
  },
  dark: {
    '--mantine-color-placeholder': 'var(--mantine-color-dark-2)',
    '--mantine-color-default-border': 'var(--mantine-color-dark-4)',
    '--mantine-color-anchor': 'var(--mantine-color-room-3)',
    '--mantine-color-error': '#ff9d92',
    '--mantine-color-disabled-color': 'var(--mantine-color-dark-2)',
    '--mantine-color-red-light': '#47201c',
    '--mantine-color-red-light-color': '#ffc4bd',
    '--mantine-color-room-light': '#2d2950',
    '--mantine-color-room-light-color': 'var(--mantine-color-room-2)',
    '--room-surface': 'var(--mantine-color-dark-6)',
    '--room-page': 'var(--mantine-color-dark-7)',
    '--room-line': 'var(--mantine-color-dark-5)',
    '--room-hover': 'var(--mantine-color-dark-5)',
    '--room-accent-soft': '#2d2950',
    '--room-accent-text': 'var(--mantine-color-room-2)',
    '--room-good': '#6fd3a0',
    '--room-good-soft': '#1c3a2b',
    '--room-bad': '#ff9d92',
    '--room-bad-soft': '#47201c',
    '--room-wait': '#fdb92e',
  },
});
