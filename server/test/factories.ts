import { hash } from '@node-rs/argon2';
import type { Knex } from 'knex';
import { newId } from '#db/base-model.ts';
import { Idea } from '#db/models/idea.ts';
import { User } from '#db/models/user.ts';

/** Password of every made user. */
export const TEST_PASSWORD = 'Mended-Clip-42';

/** Creates a verified user, with a new name and address unless given. */
export async function createUser(db: Knex, given: Partial<User> = {}): Promise<User> {
  const username = given.username ?? `u-${newId().slice(0, 12)}`;
  const email = given.email ?? `${username}@example.test`;
  return User.query(db).insertAndFetch({
    id: newId(),
    username,
    usernameLower: username.toLowerCase(),
    email,
    emailLower: email.toLowerCase(),
    // Deliberately cheap; the parameters of real hashes are tested with the password code.
    passwordHash: await hash(TEST_PASSWORD, { memoryCost: 8, timeCost: 1, parallelism: 1 }),
    emailVerifiedAt: Date.now(),
    plan: 'starter',
    trialEndsAt: null,
    reputation: 0,
    createdAt: Date.now(),
    updatedAt: Date.now(),
    ...given,
  });
}

/** Creates an idea, and its author unless one is given. */
export async function createIdea(db: Knex, given: Partial<Idea> = {}): Promise<Idea> {
  const author =
    given.userId === undefined ? await createUser(db) : await User.query(db).findById(given.userId);
  if (!author) throw new Error('The author does not exist.');
  return Idea.query(db).insertAndFetch({
    id: newId(),
    userId: author.id,
    text: 'Mend vertical clips with letterbox bars.',
    userName: author.username,
    status: null,
    votes: 0,
    bonusGiven: false,
    hidden: false,
    createdAt: Date.now(),
    updatedAt: Date.now(),
    ...given,
  });
}
