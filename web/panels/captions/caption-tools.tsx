import { type ChangeEvent, type FormEvent, useRef, useState } from 'react';
import styled from 'styled-components';
import { buildPath } from '#common/api/build-path.ts';
import { type CaptionsPageDto, subRipPath } from '#common/api/captions.ts';
import { mediaPaths, type VideoDto } from '#common/api/videos.ts';
import { CAPTION_LIMITS } from '#common/captions.ts';
import { layScript } from '#common/lay-script.ts';
import { parseCaptionFile } from '#common/parse-captions.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { Icon } from '../../components/icons.tsx';
import { type Cues, shiftAll } from '../../data/captions/caption-edits.ts';
import type { CaptionAction } from '../../data/captions/caption-history.ts';
import { captionTexts as texts } from '../../texts/captions.ts';
import { colour, radius, space, visuallyHidden } from '../../theme.ts';
import { Failure, fileLinks, Note } from '../panel-parts.tsx';

const Tools = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1)};
  input[type='file'] {
    ${visuallyHidden}
  }
  ${fileLinks}
`;
const Form = styled.form`
  display: grid;
  gap: ${space(1.5)};
  label {
    font-weight: 600;
  }
  textarea {
    width: 100%;
    min-height: 180px;
    padding: ${space(1)};
    border: 1px solid ${colour.lineStrong};
    border-radius: ${radius.s};
    background: ${colour.cloth};
    color: ${colour.ink};
    font: inherit;
    resize: vertical;
  }
`;

/** A caption file is text; larger files are something else. */
const MOST_FILE_BYTES = 4 * 1024 ** 2;

interface CaptionToolsProps {
  readonly video: VideoDto;
  readonly page: CaptionsPageDto;
  readonly hasCues: boolean;
  readonly act: (action: CaptionAction) => void;
  readonly onRaw: () => void;
  /** Replaces all cues; `words` describes what happened. */
  readonly onReplace: (cues: Cues, words: string) => void;
}

/** Actions on all cues: import, script, shift, editing as one text, restoring the measured times, download. */
export function CaptionTools({ video, page, hasCues, act, onRaw, onReplace }: CaptionToolsProps) {
  const [open, setOpen] = useState<'script' | 'shift' | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const file = useRef<HTMLInputElement>(null);
  const path = (template: string): string => buildPath(template, { id: video.id });

  const read = async (event: ChangeEvent<HTMLInputElement>): Promise<void> => {
    const chosen = event.target.files?.[0];
    // Picking the same file again must fire an event, too.
    event.target.value = '';
    if (!chosen) return;
    if (chosen.size > MOST_FILE_BYTES) return setFailure(texts.importLarge);
    const found = parseCaptionFile(await chosen.text());
    if (!found) return setFailure(texts.importBad);
    if (found.cues.length > CAPTION_LIMITS.cues) return setFailure(texts.importMany);
    setFailure(null);
    onReplace(found.cues, texts.imported(found.cues.length, found.notes));
  };
  const timesAgain = (): void =>
    onReplace(
      page.speech.map(({ startMs, endMs }) => ({
        startMs: Math.round(startMs),
        endMs: Math.round(endMs),
        text: null,
        source: 'timing_only',
        confidence: null,
      })),
      texts.againDone,
    );

  return (
    <>
      <Tools>
        <input
          ref={file}
          type="file"
          accept=".srt,.vtt,text/vtt,application/x-subrip"
          aria-label={texts.importFile}
          tabIndex={-1}
          onChange={(event) => void read(event)}
        />
        <Button
          look="secondary"
          size="s"
          icon="upload"
          title={texts.importHint}
          onClick={() => file.current?.click()}
        >
          {texts.importFile}
        </Button>
        <Button look="secondary" size="s" icon="pencil" onClick={() => setOpen('script')}>
          {texts.script}
        </Button>
        <Button look="secondary" size="s" icon="clock" disabled={!hasCues} onClick={() => setOpen('shift')}>
          {texts.shift}
        </Button>
        <Button look="secondary" size="s" icon="captions" onClick={onRaw}>
          {texts.raw.open}
        </Button>
        {page.speech.length > 0 && (
          <Button look="quiet" size="s" onClick={timesAgain}>
            {texts.again}
          </Button>
        )}
        {hasCues && (
          <>
            <a href={path(mediaPaths.captions)} download={`captions-${video.id}.vtt`}>
              <Icon name="download" size={17} />
              {texts.downloadAs.vtt}
            </a>
            <a href={path(subRipPath)} download={`captions-${video.id}.srt`}>
              <Icon name="download" size={17} />
              {texts.downloadAs.srt}
            </a>
          </>
        )}
      </Tools>
      {failure !== null && <Failure role="alert">{failure}</Failure>}
      <Dialog open={open === 'script'} onOpenChange={() => setOpen(null)} title={texts.script}>
        <ScriptForm
          onLay={(script) => {
            const cues = layScript(script, page.speech, video.durationMs);
            if (!cues) return false;
            setOpen(null);
            onReplace(cues, texts.scriptDone(cues.length));
            return true;
          }}
        />
      </Dialog>
      <Dialog open={open === 'shift'} onOpenChange={() => setOpen(null)} title={texts.shift}>
        <ShiftForm
          onShift={(byMs) => {
            setOpen(null);
            act({ do: 'edit', edit: (cues) => ({ cues: shiftAll(cues, byMs) }), say: texts.did.shift });
          }}
        />
      </Dialog>
    </>
  );
}

/** @param onLay returns false when the script cannot be spread over the speech */
function ScriptForm({ onLay }: { readonly onLay: (script: string) => boolean }) {
  const [script, setScript] = useState('');
  const [failed, setFailed] = useState(false);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setFailed(!onLay(script));
  };
  return (
    <Form onSubmit={submit}>
      <Note id="script-hint">{texts.scriptHint}</Note>
      <label htmlFor="script-text">{texts.scriptLabel}</label>
      <textarea
        id="script-text"
        value={script}
        aria-describedby="script-hint"
        onChange={(event) => setScript(event.target.value)}
      />
      {failed && <Failure role="alert">{texts.scriptNone}</Failure>}
      <div>
        <Button type="submit" size="s">
          {texts.scriptLay}
        </Button>
      </div>
    </Form>
  );
}

function ShiftForm({ onShift }: { readonly onShift: (byMs: number) => void }) {
  const [typed, setTyped] = useState('');
  const [failed, setFailed] = useState(false);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const plain = typed.trim().replace(',', '.').replace('−', '-');
    if (/^[+-]?\d{1,5}(\.\d{1,3})?$/.test(plain)) onShift(Number(plain) * 1000);
    else setFailed(true);
  };
  return (
    <Form onSubmit={submit}>
      <Field
        label={texts.shiftLabel}
        value={typed}
        autoComplete="off"
        error={failed ? texts.shiftBad : undefined}
        onChange={(event) => setTyped(event.target.value)}
      />
      <div>
        <Button type="submit" size="s">
          {texts.shiftDo}
        </Button>
      </div>
    </Form>
  );
}
