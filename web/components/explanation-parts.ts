/** Words that only experts know what to do with. */
const EXPERT = /\bdB\b|\bppm\b|\bticks?\b|\bGOPs?\b|SHA-256|scored/;

/**
 * An explanation of the engine in two parts: what everybody understands, and the sentences with figures of experts. The first sentence
 * is always plain: it says what was done.
 */
export function explanationParts(explanation: string): { readonly plain: string; readonly expert: string } {
  const sentences = explanation.split(/(?<=[.!?])\s+(?=[A-Z0-9])/);
  const isExpert = (sentence: string, at: number) => at > 0 && EXPERT.test(sentence);
  return {
    plain: sentences.filter((sentence, at) => !isExpert(sentence, at)).join(' '),
    expert: sentences.filter(isExpert).join(' '),
  };
}
