import { type ReactNode, useEffect, useRef } from 'react';
import styled from 'styled-components';
import { appTexts } from '../texts/app.ts';
import { colour, screen, space, text } from '../theme.ts';

/** The column all pages share. */
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
  /* Pages fill the window, so that what arrives in them moves no footer. */
  min-height: calc(100dvh - var(--header-height));
`;

/** A page whose parts stand below each other, none wider than the window. */
export const PageColumn = styled(PageMain)`
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  align-content: start;
  gap: ${space(3)};
`;

/** The sentence or two under the heading of a page. */
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
 * The heading of a page. It takes the focus when one comes here from another page, so that keyboards and screen
 * readers arrive where the eyes do, and gives the window its title. In a window that has just been opened, which
 * still has the title of the empty document, the first stop stays the link past the header.
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
