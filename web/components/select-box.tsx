import styled from 'styled-components';
import { colour, radius, space } from '../theme.ts';

/** A select box with the same look in every browser; WebKit would keep its native look. */
export const SelectBox = styled.select<{ $ground?: 'cloth' | 'raised'; $heightPx?: number }>`
  appearance: none;
  min-height: ${({ $heightPx = 44 }) => $heightPx}px;
  padding: 0 ${space(4)} 0 ${space(1.5)};
  border: 1px solid ${colour.lineStrong};
  border-radius: ${radius.s};
  background:
    linear-gradient(45deg, transparent 50%, currentColor 50%) calc(100% - 17px) 52% / 5px 5px no-repeat,
    linear-gradient(135deg, currentColor 50%, transparent 50%) calc(100% - 12px) 52% / 5px 5px no-repeat,
    ${({ $ground = 'cloth' }) => colour[$ground]};
  text-overflow: ellipsis;
  cursor: pointer;
`;
