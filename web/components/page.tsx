import { type ReactNode, useEffect, useRef } from 'react';
import styled from 'styled-components';
import { appTexts } from '../texts/app.ts';
import { colour, screen, space, text } from '../theme.ts';

/** The column that all pages share. */
export const Container = styled.div`
  width: 100%;
  max-width: 1200px;
  margin-inline: auto;
  padding-inline: clamp(16px, 4vw, 40px);
`;

export const PageMain = styled(Container).attrs({ as: 'main', id: 'main' })`
  padding-block: ${space(3, 8)};
  ${screen.tablet} {
    padding-block: ${space(5, 10)};
  }
  /* Pages fill the window, so that arriving content does not move the footer. */
  min-height: calc(100dvh - var(--header-height));
`;

/** A page with its parts below each other, none wider than the window. */
export const PageColumn = styled(PageMain)`
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  align-content: start;
  gap: ${space(3)};
`;

/** The introduction below the heading of a page. */
export const PageLead = styled.p`
  margin-top: ${space(1)};
  max-width: 60ch;
  color: ${colour.inkSoft};
`;

const Heading = styled.h1`
  font-size: ${text.xxxl};
  &:focus {
    outline: none;
  }
`;

/**
 * The heading of a page, which also sets the window title. It takes the focus after navigation from another page, so
 * that keyboard and screen reader users start there. In a newly opened window, which still has the document's initial
 * title, the skip link stays the first tab stop.
 */
export function PageHeading({ children, title }: { readonly children: ReactNode; readonly title: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (document.title !== appTexts.product) heading.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    document.title = `${title} · ${appTexts.product}`;
  }, [title]);
  return (
    <Heading ref={heading} tabIndex={-1}>
      {children}
    </Heading>
  );
}
