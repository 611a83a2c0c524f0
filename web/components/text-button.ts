import styled from 'styled-components';

/** An action that stands among text or links and looks like one. */
export const TextButton = styled.button`
  border: 0;
  background: none;
  text-decoration: underline;
  text-underline-offset: 0.2em;
`;
