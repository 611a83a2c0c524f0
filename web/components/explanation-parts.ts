/** Terms that only experts understand. */
const EXPERT = /\bdB\b|\bppm\b|\bticks?\b|\bGOPs?\b|SHA-256|scored/;

/**
 * Splits an explanation of the engine in two: what everybody understands, and the sentences with expert figures. The
 * first sentence is always plain, because it says what was done.
 */
export function explanationParts(explanation: string): { readonly plain: string; readonly expert: string } {
  const sentences = explanation.split(/(?<=[.!?])\s+(?=[A-Z0-9])/);
  const isExpert = (sentence: string, at: number) => at > 0 && EXPERT.test(sentence);
  return {
    plain: sentences.filter((sentence, at) => !isExpert(sentence, at)).join(' '),
    expert: sentences.filter(isExpert).join(' '),
  };
}
