import { css } from 'styled-components';

/** Colours by role; `styles/theme.css` has the values of both themes. */
export const colour = {
  cloth: 'var(--cloth)',
  sunken: 'var(--cloth-sunken)',
  raised: 'var(--cloth-raised)',
  hover: 'var(--cloth-hover)',
  line: 'var(--line)',
  lineStrong: 'var(--line-strong)',
  ink: 'var(--ink)',
  inkSoft: 'var(--ink-soft)',
  inkFaint: 'var(--ink-faint)',
  thread: 'var(--thread)',
  threadHover: 'var(--thread-hover)',
  onThread: 'var(--on-thread)',
  chalk: 'var(--chalk)',
  live: 'var(--live)',
  liveThread: 'var(--live-thread)',
  liveSoft: 'var(--live-soft)',
  defect: 'var(--defect)',
  defectSoft: 'var(--defect-soft)',
  warn: 'var(--warn)',
  warnSoft: 'var(--warn-soft)',
  ok: 'var(--ok)',
  okSoft: 'var(--ok-soft)',
  info: 'var(--info)',
  infoSoft: 'var(--info-soft)',
  violet: 'var(--violet)',
  violetSoft: 'var(--violet-soft)',
} as const;

export const font = {
  display: 'var(--font-display)',
  text: 'var(--font-text)',
  mono: 'var(--font-mono)',
} as const;

/** The only type scale. */
export const text = {
  xs: 'var(--text-xs)',
  s: 'var(--text-s)',
  m: 'var(--text-m)',
  l: 'var(--text-l)',
  xl: 'var(--text-xl)',
  xxl: 'var(--text-2xl)',
  xxxl: 'var(--text-3xl)',
  hero: 'var(--text-hero)',
} as const;

export const radius = { s: 'var(--radius-s)', m: 'var(--radius-m)' } as const;

/** Steps of the 8 px spacing scale; halves are allowed. */
export function space(...steps: number[]): string {
  return steps.map((step) => `${step * 8}px`).join(' ');
}

/** Widths at which the layout grows; below `tablet` is the phone. */
export const screen = {
  tablet: '@media (min-width: 640px)',
  desktop: '@media (min-width: 960px)',
  wide: '@media (min-width: 1200px)',
  belowTablet: '@media (max-width: 639.98px)',
  belowDesktop: '@media (max-width: 959.98px)',
  belowWide: '@media (max-width: 1199.98px)',
} as const;

/** Tabular figures for numbers, time codes and sizes, so that changing values do not move. */
export const figures = css`
  font-family: ${font.mono};
  font-variant-numeric: tabular-nums;
  letter-spacing: -0.02em;
`;

/** A name in its own text direction (`dir="auto"`), aligned with the lines around it. */
export const ofAnyScript = css`
  text-align: -webkit-match-parent;
  text-align: match-parent;
`;

/** Limits a text to this many lines; the title must have what is cut off. */
export const clampLines = (lines: number) => css`
  display: -webkit-box;
  overflow: hidden;
  -webkit-box-orient: vertical;
  -webkit-line-clamp: ${lines};
`;

/** A small capital label above a group. */
export const eyebrow = css`
  font-size: ${text.xs};
  font-weight: 600;
  letter-spacing: 0.08em;
  text-transform: uppercase;
  color: ${colour.inkFaint};
`;

/** A running stitch as a background line; set its colour with `color`. */
export const stitchLine = css`
  height: 2px;
  background: repeating-linear-gradient(90deg, currentColor 0 12px, transparent 12px 20px);
`;

/** Visually hidden, but read by screen readers. */
export const visuallyHidden = css`
  position: absolute;
  width: 1px;
  height: 1px;
  margin: -1px;
  padding: 0;
  border: 0;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
`;
