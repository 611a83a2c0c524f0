import styled from 'styled-components';
import { isAtWork } from '#common/is-at-work.ts';
import { Button } from '../../components/button.tsx';
import { serverMessageOf } from '../../data/api-client.ts';
import type { Cues } from '../../data/captions/caption-edits.ts';
import { useCancelHearing, useHeardWords, useHearWords } from '../../data/captions/heard-words.ts';
import { captionTexts } from '../../texts/captions.ts';
import { space } from '../../theme.ts';
import { Failure, Note } from '../panel-parts.tsx';
import { useWayBack } from '../use-way-back.ts';
import { WorkProgress } from '../work-progress.tsx';

const { hear: texts } = captionTexts;

const Part = styled.div`
  display: grid;
  gap: ${space(1)};
  min-width: 0;
`;
const Row = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1)};
`;

interface CaptionHearProps {
  readonly videoId: string;
  /** Replaces all cues; `words` describes what happened. */
  readonly onReplace: (cues: Cues, words: string) => void;
}

/** The speech engine of this server: starts it and offers what it heard; says so if there is none. */
export function CaptionHear({ videoId, onReplace }: CaptionHearProps) {
  const { data } = useHeardWords(videoId);
  const hear = useHearWords(videoId);
  const cancel = useCancelHearing(videoId);
  const askButton = useWayBack(data?.state === 'cancelled');
  if (!data) return null;
  if (!data.engine) return <Note>{texts.none}</Note>;
  const { state, progress, message, cues } = data;
  const listening = isAtWork(data);
  const use = (): void =>
    onReplace(
      cues.map((cue) => ({ ...cue })),
      texts.used,
    );
  return (
    <Part>
      <Row>
        <Button
          look="secondary"
          size="s"
          icon="spark"
          ref={askButton}
          disabled={listening || hear.isPending}
          onClick={() => hear.mutate()}
        >
          {cues.length === 0 ? texts.ask : texts.again}
        </Button>
        {!listening && cues.length > 0 && (
          <Button look="secondary" size="s" onClick={use}>
            {texts.use}
          </Button>
        )}
      </Row>
      {listening && (
        <WorkProgress
          note={state === 'working' ? texts.working(progress) : texts.waiting}
          label={texts.progress}
          percent={progress}
          valueText={texts.working(progress)}
          stop={{
            label: texts.cancelLabel,
            isPending: cancel.isPending,
            onStop: () => cancel.mutate(),
          }}
        />
      )}
      {hear.isError && <Failure role="alert">{serverMessageOf(hear.error) ?? texts.askFailed}</Failure>}
      {state === 'failed' && message !== null && <Failure>{message}</Failure>}
      {state === 'done' && message !== null && <Note>{message}</Note>}
    </Part>
  );
}
