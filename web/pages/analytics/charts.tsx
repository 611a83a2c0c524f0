import { type ReactNode, useId } from 'react';
import styled from 'styled-components';
import type { AnalyticsBody } from '#common/api/analytics.ts';
import { Card } from '../../components/card.tsx';
import { analyticsTexts } from '../../texts/analytics.ts';
import { colour, screen, space, text } from '../../theme.ts';
import { ColumnChart } from './column-chart.tsx';
import { DefectChart, rankDefects } from './defect-chart.tsx';
import { formatMonth } from './figures.ts';

const { charts: texts } = analyticsTexts;

const Grid = styled.div`
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: ${space(3)};
  ${screen.desktop} {
    grid-template-columns: repeat(2, minmax(0, 1fr));
  }
`;
const Face = styled(Card)<{ $wide: boolean }>`
  ${({ $wide }) => ($wide ? 'grid-column: 1 / -1;' : '')}
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  align-content: start;
  gap: ${space(2)};
  h2 {
    font-size: ${text.l};
  }
  p {
    color: ${colour.inkSoft};
  }
`;

interface ChartCardProps {
  readonly title: string;
  readonly wide?: boolean;
  readonly children: ReactNode;
}

function ChartCard({ title, wide = false, children }: ChartCardProps) {
  const id = useId();
  return (
    <Face $wide={wide} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </Face>
  );
}

/** Videos and minutes per month, and the defects by kind over the whole time. */
export function Charts({ body }: { readonly body: AnalyticsBody }) {
  const { months, totals } = body;
  const label = (month: string) => ({
    label: formatMonth(month, 'short'),
    name: formatMonth(month, 'long'),
  });
  return (
    <Grid>
      <ChartCard title={texts.videos}>
        <ColumnChart
          title={texts.videos}
          bars={months.map(({ month, videos }) => ({
            ...label(month),
            value: videos,
            valueText: String(videos),
          }))}
        />
      </ChartCard>
      <ChartCard title={texts.minutes}>
        <ColumnChart
          title={texts.minutes}
          bars={months.map(({ month, minutesMended }) => ({
            ...label(month),
            value: minutesMended,
            valueText: String(
              minutesMended < 10 ? Math.round(minutesMended * 10) / 10 : Math.round(minutesMended),
            ),
          }))}
        />
      </ChartCard>
      <ChartCard title={texts.defects} wide>
        {rankDefects(totals.defects).length === 0 ? (
          <p>{texts.noDefects}</p>
        ) : (
          <DefectChart counts={totals.defects} />
        )}
      </ChartCard>
    </Grid>
  );
}
