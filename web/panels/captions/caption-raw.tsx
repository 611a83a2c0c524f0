import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import styled from 'styled-components';
import { readCaptionText } from '#common/caption-text.ts';
import { Button } from '../../components/button.tsx';
import type { Cues } from '../../data/captions/caption-edits.ts';
import { captionTexts } from '../../texts/captions.ts';
import { colour, figures, radius, space, text as sizes } from '../../theme.ts';
import { Note } from '../panel-parts.tsx';

const { raw: texts } = captionTexts;

const Box = styled.div`
  display: grid;
  gap: ${space(1.5)};
  min-width: 0;
  label {
    font-weight: 600;
  }
  textarea {
    ${figures}
    width: 100%;
    min-height: min(60vh, 520px);
    padding: ${space(1.5)};
    border: 1px solid ${colour.lineStrong};
    border-radius: ${radius.s};
    background: ${colour.cloth};
    color: ${colour.ink};
    font-size: ${sizes.s};
    line-height: 1.5;
    resize: vertical;
    &[aria-invalid='true'] {
      border-color: ${colour.defect};
    }
  }
`;
const Errors = styled.ul`
  display: grid;
  max-height: 168px;
  overflow: auto;
  margin: 0;
  padding: 0;
  list-style: none;
  button {
    width: 100%;
    min-height: 32px;
    padding: ${space(0.5, 1)};
    border: 0;
    border-radius: ${radius.s};
    background: none;
    color: ${colour.defect};
    font-size: ${sizes.s};
    text-align: left;
    cursor: pointer;
    &:hover {
      background: ${colour.hover};
    }
  }
`;
const Bar = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1)};
`;

/** Maximum of errors listed at a time; more appear as the first ones are corrected. */
const MOST_ERRORS = 20;

interface CaptionRawProps {
  readonly text: string;
  readonly onText: (text: string) => void;
  /** The current cues. */
  readonly cues: Cues;
  /** Applies the cues of the text. */
  readonly onTake: (cues: Cues) => void;
  /** Returns to the list and discards the text. */
  readonly onDiscard: () => void;
}

/** All captions as one text; errors are named with their line, and nothing is applied before they are corrected. */
export function CaptionRaw({ text, onText, cues, onTake, onDiscard }: CaptionRawProps) {
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const [from] = useState(cues);
  const [warned, setWarned] = useState<Cues | null>(null);
  const found = readCaptionText(text, cues);
  const { errors } = found;
  useEffect(() => field.current?.focus(), []);

  const toLine = (line: number): void => {
    const lines = text.split('\n');
    const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    const { current } = field;
    if (!current) return;
    current.focus();
    current.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
    current.scrollTop = Math.max(0, (line - 3) * (current.scrollHeight / Math.max(1, lines.length)));
  };
  const take = (): void => {
    const [first] = errors;
    if (first) toLine(first.line);
    // If another window has saved meanwhile, warns once; then the user decides.
    else if (cues !== from && warned !== cues) setWarned(cues);
    else onTake(found.cues);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    // Undo and the other keys of the list act on the text here.
    event.stopPropagation();
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    take();
  };
  return (
    <Box>
      <Note id={`${id}-hint`}>{texts.hint}</Note>
      <label htmlFor={id}>{texts.label}</label>
      <textarea
        id={id}
        ref={field}
        value={text}
        spellCheck={false}
        aria-invalid={errors.length > 0 ? true : undefined}
        aria-describedby={`${id}-hint ${id}-state`}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <p id={`${id}-state`} role="status">
        {warned === cues ? texts.changed : texts.state(found.cues.length, errors.length)}
      </p>
      {errors.length > 0 && (
        <Errors aria-label={texts.errors}>
          {errors.slice(0, MOST_ERRORS).map(({ line, problem }) => (
            <li key={`${line} ${problem}`}>
              <button type="button" onClick={() => toLine(line)}>
                {texts.error(line, texts.problems[problem])}
              </button>
            </li>
          ))}
        </Errors>
      )}
      <Bar>
        <Button size="s" onClick={take}>
          {texts.take}
        </Button>
        <Button look="quiet" size="s" onClick={onDiscard}>
          {texts.discard}
        </Button>
      </Bar>
    </Box>
  );
}
