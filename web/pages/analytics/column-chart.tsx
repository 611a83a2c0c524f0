import styled from 'styled-components';
import { colour, figures, screen } from '../../theme.ts';
import { analyticsTexts as texts } from '../../texts/analytics.ts';
import { niceTop } from './figures.ts';

const HEIGHT = 200;
const TOP = 22;
const BASE = 172;
/** Share of a month's width that its column takes. */
const FILL = 0.58;

const Chart = styled.svg`
  width: 100%;
  height: ${HEIGHT}px;
  overflow: visible;
  text {
    ${figures}
    fill: ${colour.inkSoft};
    font-size: 12px;
    text-anchor: middle;
  }
  text.value {
    fill: ${colour.ink};
    font-weight: 600;
  }
  @media (max-width: 639.98px) {
    text.second {
      display: none;
    }
  }
  ${screen.belowDesktop} {
    text {
      font-size: 11px;
    }
  }
`;

export interface ChartBar {
  readonly label: string;
  /** The full label, for screen readers. */
  readonly name: string;
  readonly value: number;
  readonly valueText: string;
}

/**
 * Columns of stitched cloth on a chalk line. Widths are shares of the available width, so that text keeps its size on
 * every screen. Described to screen readers in one sentence; the table below has the same figures.
 */
export function ColumnChart({ title, bars }: { readonly title: string; readonly bars: readonly ChartBar[] }) {
  const top = niceTop(bars.map(({ value }) => value));
  const room = 100 / Math.max(1, bars.length);
  const words = bars.map(({ name, valueText }) => `${name}: ${valueText}`).join(', ');
  const heightOf = (value: number): number => (value / top) * (BASE - TOP);
  return (
    <Chart role="img" aria-label={texts.charts.summary(title, words)}>
      {[0.5, 1].map((share) => (
        <line
          key={share}
          x1="0"
          x2="100%"
          y1={BASE - share * (BASE - TOP)}
          y2={BASE - share * (BASE - TOP)}
          stroke={colour.line}
        />
      ))}
      {bars.map(({ name, label, value, valueText }, index) => {
        const height = heightOf(value);
        const middle = `${(index + 0.5) * room}%`;
        return (
          <g key={name}>
            {value > 0 && (
              <>
                <rect
                  x={`${(index + (1 - FILL) / 2) * room}%`}
                  width={`${FILL * room}%`}
                  y={BASE - height}
                  height={height}
                  rx="3"
                  fill={colour.liveSoft}
                  stroke={colour.liveThread}
                  strokeWidth="1.5"
                  strokeDasharray="6 4"
                />
                <line
                  x1={middle}
                  x2={middle}
                  y1={BASE - 4}
                  y2={BASE - height + 4}
                  stroke={colour.liveThread}
                  strokeWidth="2"
                  strokeLinecap="round"
                  strokeDasharray="8 6"
                />
                <text className="value" x={middle} y={BASE - height - 6}>
                  {valueText}
                </text>
              </>
            )}
            <text className={index % 2 === bars.length % 2 ? 'second' : undefined} x={middle} y={BASE + 18}>
              {label}
            </text>
          </g>
        );
      })}
      <line
        x1="0"
        x2="100%"
        y1={BASE}
        y2={BASE}
        stroke={colour.chalk}
        strokeWidth="2"
        strokeDasharray="12 8"
        strokeLinecap="round"
      />
    </Chart>
  );
}
