import { type ReactNode, useEffect, useRef } from 'react';
import styled from 'styled-components';
import { appTexts } from '../texts/app.ts';
import { space, text } from '../theme.ts';

/** The column all pages share. */
export const Container = styled.div`
  width: 100%;
  max-width: 1200px;
  margin-inline: auto;
  padding-inline: clamp(16px, 4vw, 40px);
`;

export const PageMain = styled(Container).attrs({ as: 'main', id: 'main' })`
  padding-block: ${space(5, 10)};
  /* Pages fill the window, so that what arrives in them moves no footer. */
  min-height: calc(100dvh - var(--header-height));
`;

const Heading = styled.h1`
  font-size: ${text.xxxl};
  &:focus {
    outline: none;
  }
`;

/**
 * The heading of a page. It takes the focus when the page opens, so that keyboards and screen readers arrive
 * where the eyes do, and gives the window its title.
 */
export function PageHeading({ children, title }: { readonly children: ReactNode; readonly title: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${appTexts.product}`;
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <Heading ref={heading} tabIndex={-1}>
      {children}
    </Heading>
  );
}
