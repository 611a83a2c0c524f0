import styled from 'styled-components';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import type { IconName } from '../../components/icons.tsx';
import { verifyTexts as texts } from '../../texts/verify.ts';
import { colour, screen, space, text } from '../../theme.ts';
import type { Judgement, Verdict } from './judge-files.ts';

const TONES: Record<Verdict, Tone> = { good: 'ok', bad: 'defect', open: 'neutral' };
const ICONS: Record<Verdict, IconName> = { good: 'check', bad: 'alert', open: 'clock' };

const Sheet = styled(Card)`
  display: grid;
  gap: ${space(2)};
  min-width: 0;
`;
const Sum = styled.p<{ $verdict: Verdict }>`
  font-size: ${text.l};
  font-weight: 600;
  color: ${({ $verdict }) => ({ good: colour.ok, bad: colour.defect, open: colour.inkSoft })[$verdict]};
`;
const Lines = styled.ul`
  display: grid;
  gap: ${space(1.5)};
  li {
    display: grid;
    justify-items: start;
    gap: ${space(0.5, 2)};
    overflow-wrap: anywhere;
  }
  ${screen.tablet} {
    li {
      grid-template-columns: 150px minmax(0, 1fr);
      align-items: baseline;
    }
  }
`;

interface FindingListProps {
  readonly judgement: Judgement;
  readonly onClear: () => void;
}

/** The verdict over all dropped files, with its reasons line by line. */
export function FindingList({ judgement, onClear }: FindingListProps) {
  const { verdict, findings } = judgement;
  return (
    <Sheet aria-label={texts.result}>
      <Sum role={verdict === 'bad' ? 'alert' : 'status'} $verdict={verdict}>
        {texts.verdicts[verdict]}
      </Sum>
      <Lines>
        {findings.map((finding, index) => (
          <li key={`${finding.what}-${index}`}>
            <Badge tone={TONES[finding.verdict]} icon={ICONS[finding.verdict]}>
              {texts.states[finding.verdict]}
            </Badge>
            <span>{texts.findings[finding.what](finding.name ?? '')}</span>
          </li>
        ))}
      </Lines>
      <div>
        <Button look="secondary" size="s" icon="retry" onClick={onClear}>
          {texts.again}
        </Button>
      </div>
    </Sheet>
  );
}
