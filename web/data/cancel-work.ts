import { useMutation } from '@tanstack/react-query';
import { failureToast } from './failure-toast.ts';
import { useShowToast } from './toasts.ts';

interface CancelWork<Answer, What> {
  readonly call: (what: What) => Promise<Answer>;
  /** Replaces what the page knew by the server's answer; if the work finished first, the answer has its result. */
  readonly onAnswer: (answer: Answer) => unknown;
  /** Toast title when the server refused. */
  readonly failed: string;
  readonly tryAgain: string;
}

/** Cancels requested work that is waiting or in progress. */
export function useCancelWork<Answer, What = void>({
  call,
  onAnswer,
  failed,
  tryAgain,
}: CancelWork<Answer, What>) {
  const showToast = useShowToast();
  return useMutation({
    mutationFn: call,
    onSuccess: onAnswer,
    onError: (error) => showToast(failureToast(error, failed, tryAgain)),
  });
}
