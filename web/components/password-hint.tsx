import styled from 'styled-components';
import { isEasyToGuess } from '#common/common-passwords.ts';
import { authTexts } from '../texts/auth.ts';
import { colour } from '../theme.ts';

const Advice = styled.span`
  display: block;
  color: ${colour.ink};
`;

interface PasswordHintProps {
  /** What is typed so far. */
  readonly password: string;
  /** User name and address, as far as known. */
  readonly names?: readonly string[];
}

/** The rules of a password, and advice where it is one of the first that are tried; a hint, never a refusal. */
export function PasswordHint({ password, names = [] }: PasswordHintProps) {
  return (
    <>
      {authTexts.passwordHint}
      <span role="status">{isEasyToGuess(password, names) && <Advice>{authTexts.passwordEasy}</Advice>}</span>
    </>
  );
}
