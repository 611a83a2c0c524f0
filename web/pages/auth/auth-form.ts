import styled from 'styled-components';
import { TextButton } from '../../components/text-button.ts';
import { colour, space, text } from '../../theme.ts';

/** One column of fields with its button. */
export const AuthForm = styled.form`
  display: grid;
  gap: ${space(2.5)};
  padding-top: ${space(1)};
`;

export const WayButton = styled(TextButton)`
  justify-self: start;
  padding: ${space(1, 0)};
  color: ${colour.inkSoft};
  font-size: ${text.s};
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
