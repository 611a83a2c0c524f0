import styled from 'styled-components';
import type { FixOutcome } from '#common/api/quick-fixes.ts';
import { quickFixTexts as texts } from '../../texts/quick-fixes.ts';
import { colour, figures, space, text } from '../../theme.ts';

/** Height of the line that opens the figures, a target for a finger. */
export const MEASURED_HEIGHT = '36px';

const Measured = styled.details`
  summary {
    display: flex;
    align-items: center;
    width: fit-content;
    min-height: ${MEASURED_HEIGHT};
    font-weight: 600;
    text-decoration: underline;
    text-underline-offset: 3px;
    cursor: pointer;
  }
  p + p {
    margin-top: ${space(0.5)};
  }
  small {
    ${figures}
    display: block;
    font-size: ${text.xs};
    color: ${colour.inkFaint};
  }
`;

/** The figures with what they mean, where the sentence above them does not say just that. */
function meant({ detail, figures }: FixOutcome) {
  return figures.map((figure) => {
    const meaning = texts.figureMeaning(figure.name, figure.before, figure.after);
    return { ...figure, meaning: meaning === detail ? null : meaning };
  });
}

/** The figures of a change by one press; nothing where none was measured. */
export function FixFigures({ label, outcome }: { readonly label: string; readonly outcome: FixOutcome }) {
  const measured = meant(outcome);
  if (measured.length === 0) return null;
  return (
    <Measured>
      <summary aria-label={texts.measuredLabel(label)}>{texts.measured}</summary>
      {measured.map(({ name, unit, before, after, meaning }) => (
        <p key={name}>
          {meaning}
          <small>{texts.figure(name, before, after, unit)}</small>
        </p>
      ))}
    </Measured>
  );
}
