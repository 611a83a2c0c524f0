import styled from 'styled-components';
import { colour } from '../theme.ts';

const EDGE = 64;
const TALL = EDGE * Math.sqrt(3);

/** Hemp leaf pattern (asanoha): a triangular grid with spokes from each triangle's centre to its corners. */
function hempLeaf(): string {
  const half = TALL / 2;
  const corners: [number, number][][] = [
    [
      [0, 0],
      [EDGE, 0],
      [EDGE / 2, half],
    ],
    [
      [0, 0],
      [EDGE / 2, half],
      [-EDGE / 2, half],
    ],
    [
      [EDGE, 0],
      [EDGE * 1.5, half],
      [EDGE / 2, half],
    ],
    [
      [EDGE / 2, half],
      [0, TALL],
      [EDGE, TALL],
    ],
    [
      [-EDGE / 2, half],
      [EDGE / 2, half],
      [0, TALL],
    ],
    [
      [EDGE / 2, half],
      [EDGE * 1.5, half],
      [EDGE, TALL],
    ],
  ];
  const point = ([x, y]: [number, number]): string => `${x.toFixed(1)} ${y.toFixed(1)}`;
  return corners
    .map((triangle) => {
      const middle: [number, number] = [
        triangle.reduce((sum, [x]) => sum + x, 0) / 3,
        triangle.reduce((sum, [, y]) => sum + y, 0) / 3,
      ];
      const hem = `M${triangle.map(point).join('L')}Z`;
      return hem + triangle.map((corner) => `M${point(middle)}L${point(corner)}`).join('');
    })
    .join('');
}

const Cloth = styled.svg`
  position: absolute;
  inset: 0;
  width: 100%;
  height: 100%;
  max-width: none;
  pointer-events: none;
  path {
    fill: none;
    stroke: ${colour.chalk};
    stroke-width: 1.2;
    stroke-linecap: round;
    stroke-dasharray: 6 5;
  }
`;

/** A sashiko pattern behind a section; decoration only. */
export function Sashiko({ id }: { readonly id: string }) {
  return (
    <Cloth aria-hidden="true">
      <defs>
        <pattern id={id} width={EDGE} height={TALL} patternUnits="userSpaceOnUse">
          <path d={hempLeaf()} />
        </pattern>
      </defs>
      <rect width="100%" height="100%" fill={`url(#${id})`} />
    </Cloth>
  );
}
