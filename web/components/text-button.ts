import styled from 'styled-components';

/** An action among text or links that looks like a link. */
export const TextButton = styled.button`
  border: 0;
  background: none;
  text-decoration: underline;
  text-underline-offset: 0.2em;
`;
