import styled from 'styled-components';
import { type Level, levelFor } from '#common/reputation.ts';
import { colour, radius, text } from '../theme.ts';

const COLOURS: Record<Level['colour'], { ink: string; ground: string }> = {
  slate: { ink: colour.inkSoft, ground: colour.hover },
  teal: { ink: colour.ok, ground: colour.okSoft },
  blue: { ink: colour.info, ground: colour.infoSoft },
  violet: { ink: colour.violet, ground: colour.violetSoft },
  amber: { ink: colour.live, ground: colour.liveSoft },
  rose: { ink: colour.defect, ground: colour.defectSoft },
};

// One stroke each, like an embroidered mark.
const SHAPES: Record<Level['icon'], string> = {
  sprout: 'M8 14V8m0 0C8 5 6 4 3 4c0 3 2 4 5 4Zm0 2c0-3 2-4 5-4 0 3-2 4-5 4Z',
  needle: 'M13 3 4.5 11.5 3 13l1.5-1.5M10.5 3.5l2 2M3 13c2 .5 4-1 5-3',
  spark: 'M8 2v4m0 4v4M2 8h4m4 0h4M4 4l2 2m4 4 2 2m0-8-2 2m-4 4-2 2',
  star: 'm8 2.5 1.7 3.6 3.8.5-2.8 2.7.7 3.9L8 11.3l-3.4 1.9.7-3.9-2.8-2.7 3.8-.5Z',
  crown: 'M2.5 12.5h11m-11-2-.5-6 3.5 3L8 3l2.5 4.5 3.5-3-.5 6Z',
  laurel: 'M5 13C2.5 11 2 7 4 3.5M11 13c2.5-2 3-6 1-9.5M6.5 8 8 9.5 10.500 6.500M5 13h6',
};

const SIZES = {
  sm: { icon: 13, font: text.xs, padding: '1px 7px' },
  md: { icon: 15, font: text.s, padding: '3px 9px' },
  lg: { icon: 19, font: text.m, padding: '5px 12px' },
} as const;
export type BadgeSize = keyof typeof SIZES;

const Face = styled.span<{ $colour: Level['colour']; $size: BadgeSize }>`
  display: inline-flex;
  align-items: center;
  gap: 5px;
  flex: none;
  padding: ${({ $size }) => SIZES[$size].padding};
  border-radius: ${radius.s};
  background: ${({ $colour }) => COLOURS[$colour].ground};
  color: ${({ $colour }) => COLOURS[$colour].ink};
  font-size: ${({ $size }) => SIZES[$size].font};
  font-weight: 600;
  white-space: nowrap;
`;

/** The level of a contributor as an embroidered mark with its name. */
export function ReputationBadge({
  points,
  size = 'sm',
}: {
  readonly points: number;
  readonly size?: BadgeSize;
}) {
  const level = levelFor(points);
  const pixels = SIZES[size].icon;
  return (
    <Face $colour={level.colour} $size={size} data-testid={`reputation-badge-${level.name.toLowerCase()}`}>
      <svg
        width={pixels}
        height={pixels}
        viewBox="0 0 16 16"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden
      >
        <path d={SHAPES[level.icon]} />
      </svg>
      {level.name}
    </Face>
  );
}
