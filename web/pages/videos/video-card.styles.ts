import styled from 'styled-components';
import { colour, figures, ofAnyScript, radius, screen, space, text } from '../../theme.ts';

export const Card = styled.li`
  display: flex;
  flex-direction: column;
  min-width: 0;
  border: 1px solid ${colour.line};
  border-radius: ${radius.m};
  background: ${colour.raised};
  overflow: hidden;
`;

export const Poster = styled.div<{ $never: boolean }>`
  position: relative;
  aspect-ratio: 16 / 9;
  /* On a phone, where cards are stacked, a picture that will never come takes little room. */
  ${screen.belowTablet} {
    ${({ $never }) => $never && 'aspect-ratio: 16 / 3;'}
  }
  background: ${colour.sunken};
  overflow: hidden;
  img {
    width: 100%;
    height: 100%;
    object-fit: contain;
  }
  & > svg {
    opacity: 0.45;
  }
`;

export const PlayButton = styled.button`
  position: absolute;
  inset: 0;
  display: grid;
  place-items: center;
  border: 0;
  background: rgb(5 7 18 / 0);
  color: #f3f4f1;
  transition: background-color 0.2s;
  svg {
    box-sizing: content-box;
    padding: 14px;
    border-radius: 50%;
    background: rgb(5 7 18 / 0.72);
  }
  &:hover {
    background: rgb(5 7 18 / 0.3);
  }
  &:focus-visible {
    outline-offset: -4px;
  }
`;

export const Length = styled.span`
  ${figures}
  position: absolute;
  right: 8px;
  bottom: 8px;
  padding: 1px 6px;
  border-radius: 4px;
  background: rgb(5 7 18 / 0.78);
  color: #f3f4f1;
  font-size: ${text.xs};
  pointer-events: none;
`;

export const Body = styled.div`
  display: flex;
  flex: 1;
  flex-direction: column;
  gap: ${space(1.25)};
  padding: ${space(2)};
`;

export const NameRow = styled.div`
  display: flex;
  align-items: center;
  gap: ${space(1)};
  min-height: 40px;
  input {
    width: 20px;
    height: 20px;
    flex: none;
    accent-color: ${colour.thread};
  }
`;

export const Name = styled.h2`
  ${ofAnyScript}
  flex: 1;
  min-width: 0;
  overflow: hidden;
  white-space: nowrap;
  text-overflow: ellipsis;
  font-size: ${text.l};
`;

export const Badges = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1)};
`;

export const ShortId = styled.span`
  ${figures}
  font-size: ${text.s};
  color: ${colour.inkFaint};
`;

export const Middle = styled.div`
  min-height: 46px;
`;

/** Leaves room for marks below the thread, so that they do not touch the figures under it. */
export const Measured = styled.div`
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: ${space(0.5)};
`;

export const Facts = styled.p`
  ${figures}
  display: flex;
  flex-wrap: wrap;
  justify-content: space-between;
  gap: 0 ${space(2)};
  font-size: ${text.xs};
  color: ${colour.inkSoft};
`;

/** Each fact on a separate line: names of steps differ in length, and if one wrapped, everything below would jump. */
export const ProgressFacts = styled(Facts)`
  flex-direction: column;
`;

export const Failure = styled.p`
  margin-bottom: ${space(1)};
  font-size: ${text.s};
  color: ${colour.defect};
`;

export const Ways = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(0.5, 2)};
  a {
    padding: ${space(1, 0)};
    font-size: ${text.s};
    font-weight: 600;
  }
`;

export const Foot = styled.div`
  margin: auto ${space(-1)} ${space(-1)};
`;
