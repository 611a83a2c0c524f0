import { useEffect, useRef } from 'react';
import type { FixOutcome, FixRunDto } from '#common/api/quick-fixes.ts';
import { isAtWork } from '#common/is-at-work.ts';
import { useShowToast } from '../../data/toasts.ts';
import { quickFixTexts } from '../../texts/quick-fixes.ts';

/** What the end of a request is called. */
export interface EndTexts {
  readonly done: string;
  readonly nothingDone: string;
  readonly cancelled: string;
  readonly cancelledDetail: string;
  readonly failed: string;
  readonly failedDetail: string;
}

/** How many changes of a request were applied, needed nothing, and were not possible. */
function tally({ fixes }: FixRunDto, texts: EndTexts): { title: string; detail: string } {
  const count = (state: FixOutcome['state']) => fixes.filter((fix) => fix.state === state).length;
  const applied = count('applied');
  return {
    title: applied > 0 ? texts.done : texts.nothingDone,
    detail: quickFixTexts.doneDetail(applied, count('unchanged'), count('failed')),
  };
}

/** The end of a request that did not fail, in one sentence. */
export function endOf(run: FixRunDto, texts: EndTexts): string {
  if (run.state === 'cancelled') return `${texts.cancelled}. ${texts.cancelledDetail}`;
  const { title, detail } = tally(run, texts);
  return quickFixTexts.ended(title, detail);
}

/**
 * Announces the end of a request that was awaited here.
 * @param run null also for a request that another panel announces
 * @param texts must not change between renders
 */
export function useAnnouncedEnd(run: FixRunDto | null, texts: EndTexts): void {
  const showToast = useShowToast();
  const waited = useRef(false);
  const atWork = isAtWork(run);
  useEffect(() => {
    if (waited.current && run?.state === 'done') {
      const { title, detail } = tally(run, texts);
      showToast({ title, description: detail });
    }
    if (waited.current && run?.state === 'cancelled')
      showToast({ title: texts.cancelled, description: texts.cancelledDetail });
    if (waited.current && run?.state === 'failed')
      showToast({ title: texts.failed, description: texts.failedDetail, tone: 'destructive' });
    waited.current = atWork;
  }, [run, atWork, texts, showToast]);
}
