import styled from 'styled-components';
import { colour, space, text } from '../../theme.ts';

/** One column of fields with its button. */
export const AuthForm = styled.form`
  display: grid;
  gap: ${space(2.5)};
  padding-top: ${space(1)};
`;

export const TextButton = styled.button`
  justify-self: start;
  padding: ${space(1, 0)};
  border: 0;
  background: none;
  color: ${colour.inkSoft};
  font-size: ${text.s};
  text-decoration: underline;
  text-underline-offset: 0.2em;
  &:hover {
    color: ${colour.ink};
  }
`;

export const Note = styled.p`
  color: ${colour.inkSoft};
`;

export const SheetTitle = styled.h2`
  font-size: ${text.xl};
`;
