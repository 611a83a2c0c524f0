import styled from 'styled-components';
import { isEasyToGuess } from '#common/common-passwords.ts';
import { authTexts } from '../texts/auth.ts';
import { colour } from '../theme.ts';

const Advice = styled.span`
  display: block;
  color: ${colour.ink};
`;

interface PasswordHintProps {
  /** The password typed so far. */
  readonly password: string;
  /** User name and address, if known. */
  readonly names?: readonly string[];
}

/** The rules of a password, with advice when it is easy to guess; a hint, never a refusal. */
export function PasswordHint({ password, names = [] }: PasswordHintProps) {
  return (
    <>
      {authTexts.passwordHint}
      <span role="status">{isEasyToGuess(password, names) && <Advice>{authTexts.passwordEasy}</Advice>}</span>
    </>
  );
}
