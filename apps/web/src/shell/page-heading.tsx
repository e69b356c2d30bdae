import { Title, type TitleOrder } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { useLocation } from 'react-router';

/** The page whose heading had the focus last; null before the first, whose focus stays with the browser. */
let announced: string | null = null;

export interface PageHeadingProps {
  children: ReactNode;
  /** Name of the page for the window's title, when it differs from the heading. */
  title: string;
  order?: TitleOrder;
}

/** Heading of a page: names the window, and takes the focus when the page is new, so that readers hear where they are. */
export function PageHeading({ children, title, order = 1 }: PageHeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { pathname } = useLocation();
  useEffect(() => {
    document.title = `${title} · Sparkroom`;
  }, [title]);
  useEffect(() => {
    if (announced !== null && announced !== pathname) {
      heading.current?.focus({ preventScroll: true });
      window.scrollTo(0, 0);
    }
    announced = pathname;
  }, [pathname]);
  return (
    <Title order={order} ref={heading} tabIndex={-1} data-page-heading>
      {children}
    </Title>
  );
}

/** Gives the focus back to the page's heading after an action whose button has gone. */
export function focusHeading(): void {
  const headings = document.querySelectorAll<HTMLElement>('[data-page-heading]');
  headings[headings.length - 1]?.focus({ preventScroll: true });
}
