import type { ReactNode } from 'react';
import styled from 'styled-components';

/** Our own line icons on a 24 px grid, drawn with one stroke width. */
const SHAPES = {
  alert: <path d="M12 4 2.8 19.5h18.4L12 4Zm0 6v4m0 2.8v.2" />,
  arrowLeft: <path d="M20 12H5m6-6-6 6 6 6" />,
  arrowRight: <path d="M4 12h15m-6-6 6 6-6 6" />,
  bell: <path d="M6 16V11a6 6 0 1 1 12 0v5l1.5 2h-15L6 16Zm4 4.5h4" />,
  captions: <path d="M3.5 5.5h17v13h-17zM10 10.4a2 2 0 1 0 0 3.2m6.5-3.2a2 2 0 1 0 0 3.2" />,
  check: <path d="m4.5 12.5 5 5 10-11" />,
  chevronDown: <path d="m6 9 6 6 6-6" />,
  clock: <path d="M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17Zm0 4.5v4.5l3 2" />,
  close: <path d="m6 6 12 12M18 6 6 18" />,
  cloud: (
    <path d="M7 18.5a4 4 0 0 1-.6-8 6 6 0 0 1 11.4 1.2 3.5 3.5 0 0 1-.3 6.8H7Zm5-1.5v-6m-2.5 2.5L12 11l2.5 2.5" />
  ),
  collapse: <path d="M5 12h14" />,
  dot: <path d="M12 11.5v1" />,
  download: <path d="M12 4v11m-5-4.5 5 5 5-5M5 20h14" />,
  editor: <path d="M4 6h10M18 6h2M4 12h3m4 0h9M4 18h11m4 0h1M16 4v4M9 10v4m8 2v4" />,
  eye: (
    <path d="M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12Zm9.5-2.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5Z" />
  ),
  film: <path d="M4 5h16v14H4zM8 5v14m8-14v14M4 9.7h4m-4 4.6h4m8-4.6h4m-4 4.6h4" />,
  fullscreen: <path d="M4 9V4h5m6 0h5v5m0 6v5h-5m-6 0H4v-5" />,
  help: <path d="M9 9.2a3 3 0 1 1 4.6 2.6c-1 .7-1.6 1.2-1.6 2.4m0 3v.3" />,
  instagram: (
    <>
      <rect x="4" y="4" width="16" height="16" rx="4.5" />
      <circle cx="12" cy="12" r="3.6" />
      <path d="M16.7 7.3h.1" />
    </>
  ),
  lock: <path d="M6 11h12v9H6zm2.5 0V8a3.5 3.5 0 0 1 7 0v3M12 14.5v2" />,
  mail: <path d="M3.5 6h17v12.5h-17zm0 1 8.5 6.5L20.5 7" />,
  menu: <path d="M4 7h16M4 12h16M4 17h16" />,
  monitor: <path d="M3.5 5h17v11h-17zM9 20h6m-3-4v4" />,
  moon: <path d="M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10Z" />,
  muted: <path d="M4 9.5v5h3.5L12 18V6L7.5 9.5H4Zm12 .5 4.5 4.5m0-4.5L16 14.5" />,
  pause: <path d="M8.5 5.5v13m7-13v13" />,
  pencil: <path d="m4.5 19.5.8-4L16 4.8l3.2 3.2L8.5 18.7l-4 .8Zm9-12.2 3.2 3.2" />,
  play: <path d="M7.5 5v14l11-7-11-7Z" />,
  report: <path d="M6 3.5h8.5L18.5 8v12.5H6zM14 3.5V8.5h4.5M9 12.5h6m-6 3.5h6" />,
  retry: <path d="M19.5 5v5h-5M19 10a7.5 7.5 0 1 0 .8 4.5" />,
  search: <path d="M10.5 4.5a6 6 0 1 0 0 12 6 6 0 0 0 0-12Zm4.5 10.5 5 5" />,
  share: <path d="M12 14V4m-4 3.5L12 3.5l4 4M6 11.5v8.5h12v-8.5" />,
  shield: <path d="M12 3.5 5 6v5.5c0 4.5 3 7.5 7 9 4-1.5 7-4.5 7-9V6l-7-2.5Zm-3 8.3 2.2 2.2L15 10" />,
  sound: <path d="M4 9.5v5h3.5L12 18V6L7.5 9.5H4ZM15.5 9.5a4 4 0 0 1 0 5M18 7a7.5 7.5 0 0 1 0 10" />,
  spark: <path d="M12 3.5v5m0 7v5m-8.5-8.5h5m7 0h5M7 7l2 2m6 6 2 2m0-10-2 2m-6 6-2 2" />,
  sun: (
    <path d="M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8Zm0-5v1.8m0 14.4V21m9-9h-1.8M4.8 12H3m15.4-6.4-1.3 1.3M6.9 17.1l-1.3 1.3m12.8 0-1.3-1.3M6.9 6.9 5.6 5.6" />
  ),
  tiktok: <path d="M13.5 4v11a3.8 3.8 0 1 1-3.3-3.8M13.5 4c.3 2.8 2.3 4.8 5 5" />,
  trash: <path d="M4.5 7h15M9.5 7V4.5h5V7m-8 0 .8 13h9.4L17.5 7M10.5 11v5.5m3-5.5v5.5" />,
  upload: <path d="M12 16V4.5m-5 5 5-5 5 5M5 15v5h14v-5" />,
  user: (
    <path d="M12 4.5a3.8 3.8 0 1 0 0 7.6 3.8 3.8 0 0 0 0-7.6ZM4.5 20c.8-3.5 3.8-5.2 7.5-5.2s6.7 1.7 7.5 5.2" />
  ),
  wave: <path d="M3.5 12h2l2-5 3 11 3-14 2.5 10 1.5-2h3" />,
  x: <path d="m5 4.5 14 15M19 4.5l-14 15" />,
  youtube: (
    <>
      <rect x="3" y="6" width="18" height="12.5" rx="3.5" />
      <path d="M10.3 9.6v5.2l4.4-2.6-4.4-2.6Z" />
    </>
  ),
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof SHAPES;

const Svg = styled.svg`
  flex: none;
  fill: none;
  stroke: currentColor;
  stroke-width: 1.7;
  stroke-linecap: round;
  stroke-linejoin: round;
`;

/** An icon beside a text or inside a named button; hidden from screen readers. */
export function Icon({ name, size = 20 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <Svg viewBox="0 0 24 24" width={size} height={size} aria-hidden="true" focusable="false">
      {SHAPES[name]}
    </Svg>
  );
}
