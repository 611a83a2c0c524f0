/** Prints one line of set-up news. */
export function say(line) {
  process.stdout.write(`${line}\n`);
}

/** Ends the set-up with one sentence for people. */
export function stop(sentence) {
  process.stderr.write(`\n${sentence}\n`);
  process.exit(1);
}
