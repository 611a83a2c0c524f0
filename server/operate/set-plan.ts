import { PLANS, PLAN_SLUGS } from '#common/plans.ts';
import { User } from '#db/models/user.ts';
import { writeToOutbox } from '#server/event-outbox.ts';
import { withDatabase } from './with-database.ts';

const USAGE = `Usage: npm run plan -- <username or email> <${PLAN_SLUGS.join('|')}>`;

/**
 * Sets the plan of an account on the operator's behalf, without an end; a running trial ends.
 * @returns what was done, in words
 */
async function setPlan(words: readonly string[]): Promise<string> {
  const [nameOrEmail, slug] = words;
  const plan = PLAN_SLUGS.find((known) => known === slug);
  if (nameOrEmail === undefined || plan === undefined) throw new Error(USAGE);
  const lower = nameOrEmail.toLowerCase();
  return withDatabase(async (db) => {
    const user = await User.query(db).findOne(
      lower.includes('@') ? { emailLower: lower } : { usernameLower: lower },
    );
    if (!user) throw new Error(`There is no account named ${nameOrEmail}.`);
    await db.transaction(async (trx) => {
      const at = Date.now();
      await User.query(trx).findById(user.id).patch({ plan: plan, trialEndsAt: null, updatedAt: at });
      await writeToOutbox(trx, 'user.changed', { userId: user.id }, at);
    });
    return `${user.username} is on ${PLANS[plan].name} now (was ${PLANS[user.plan].name}).`;
  });
}

setPlan(process.argv.slice(2)).then(
  (done) => console.log(done),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
