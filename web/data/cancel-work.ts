import { useMutation } from '@tanstack/react-query';
import { serverMessageOf } from './api-client.ts';
import { useShowToast } from './toasts.ts';

interface CancelWork<Answer, What> {
  readonly call: (what: What) => Promise<Answer>;
  /** Puts what the server says now in the place of what the page knew; where the work was finished first, it is there. */
  readonly onAnswer: (answer: Answer) => unknown;
  /** Title where the server did not take it. */
  readonly failed: string;
  readonly tryAgain: string;
}

/** Stops something that was asked for and waits or is being made. */
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
    onError: (error) =>
      showToast({
        title: failed,
        description: serverMessageOf(error) ?? tryAgain,
        tone: 'destructive',
      }),
  });
}
