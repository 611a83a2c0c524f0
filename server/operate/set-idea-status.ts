import type { Knex } from 'knex';
import { IDEA_STATUSES } from '#common/api/ideas.ts';
import { Idea } from '#db/models/idea.ts';
import { decideIdea, type IdeaDecision } from '#server/ideas/decide-idea.ts';
import { writeNoticeFromOutside } from '#server/notifications/write-notice.ts';
import { withDatabase } from './with-database.ts';

const USAGE = `Usage: npm run idea                      lists the newest ideas with their ids
       npm run idea -- <id> <${IDEA_STATUSES.join('|')}|none|hide|show>`;

/**
 * Sets the status of an idea, or hides it.
 * @returns what was done, in words
 */
async function main(words: readonly string[]): Promise<string> {
  const [id, word] = words;
  if (id === undefined)
    return withDatabase(async (db) => (await listIdeas(db)).join('\n') || 'No ideas yet.');
  const decision = decisionFor(word);
  if (!decision) throw new Error(USAGE);
  return withDatabase(async (db) => {
    const { idea, told } = await decideIdea(
      { db, writeNotice: writeNoticeFromOutside, now: Date.now },
      id,
      decision,
    );
    const state = idea.hidden ? 'hidden' : (idea.status ?? 'without a status');
    return `Idea ${idea.id} is ${state} now; ${told} ${told === 1 ? 'person was' : 'people were'} told.`;
  });
}

function decisionFor(word: string | undefined): IdeaDecision | null {
  if (word === 'hide' || word === 'show') return { kind: 'hidden', hidden: word === 'hide' };
  if (word === 'none') return { kind: 'status', status: null };
  const status = IDEA_STATUSES.find((known) => known === word);
  return status ? { kind: 'status', status } : null;
}

async function listIdeas(db: Knex): Promise<string[]> {
  const ideas = await Idea.query(db).orderBy('createdAt', 'desc').limit(50);
  return ideas.map((idea) => {
    const state = idea.hidden ? 'hidden' : (idea.status ?? '-');
    return `${idea.id}  ${String(idea.votes).padStart(4)} votes  ${state.padEnd(12)} ${idea.text.replaceAll(/\s+/g, ' ').slice(0, 70)}`;
  });
}

main(process.argv.slice(2)).then(
  (done) => console.log(done),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
