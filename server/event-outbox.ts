import type { Knex } from 'knex';
import { z } from 'zod';
import { OutboxEvent } from '#db/models/outbox-event.ts';
import type { EventBus } from './events.ts';

/** Facts from outside the server's process: what an operator's command can change. */
const OUTSIDE_FACTS = {
  'idea.changed': z.object({ ideaId: z.string() }),
  'user.changed': z.object({ userId: z.string() }),
  'notification.created': z.object({ userId: z.string() }),
} as const;

export type OutsideFactName = keyof typeof OUTSIDE_FACTS;

/** Pages show a command's effect within a second (N13); an empty read by primary key costs well below 1 ms. */
const LOOK_EVERY_MS = 500;
/** On Postgres, a row may become visible after one with a higher id, so this many ids are read again. */
const LATE_IDS = 200;
const KEEP_MS = 3600_000;

/** Records a fact for the running servers; within a transaction, they see it at its commit. */
export async function writeToOutbox<Name extends OutsideFactName>(
  db: Knex,
  name: Name,
  fact: z.infer<(typeof OUTSIDE_FACTS)[Name]>,
  nowMs: number,
): Promise<void> {
  await OutboxEvent.query(db).insert({ name, fact, createdAt: nowMs });
}

export interface OutboxWatchDeps {
  readonly db: Knex;
  readonly events: EventBus;
  readonly logger: { warn(fields: Record<string, unknown>, message: string): void };
  readonly everyMs?: number;
}

export interface OutboxWatch {
  /** Reads at regular intervals from now on. */
  start(): void;
  /** Emits the facts recorded since the last read. The first read only finds out where to begin. */
  look(): Promise<void>;
  stop(): void;
  /**
   * Removes facts older than an hour.
   * @returns how many
   */
  purge(nowMs: number): Promise<number>;
}

/**
 * Turns facts of other processes into events of this one, each once. It works alike on both databases: every server
 * process remembers how far it has read.
 */
export function createOutboxWatch(deps: OutboxWatchDeps): OutboxWatch {
  const { db, events, logger } = deps;
  const told = new Set<number>();
  let newest: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let failing = false;

  async function begin(): Promise<void> {
    const before = await OutboxEvent.query(db).select('id').orderBy('id', 'desc').limit(LATE_IDS);
    for (const { id } of before) told.add(id);
    newest = before[0]?.id ?? 0;
  }

  async function look(): Promise<void> {
    if (newest === null) return begin();
    const rows = await OutboxEvent.query(db)
      .where('id', '>', newest - LATE_IDS)
      .orderBy('id');
    for (const row of rows) {
      if (told.has(row.id)) continue;
      told.add(row.id);
      newest = Math.max(newest, row.id);
      tell(row);
    }
    for (const id of told) if (id <= newest - LATE_IDS) told.delete(id);
  }

  function tell({ id, name, fact }: OutboxEvent): void {
    if (!isOutsideFact(name)) {
      logger.warn({ id, name }, 'an unknown fact from another process was left out');
      return;
    }
    emit(events, name, fact);
  }

  function schedule(afterMs: number): void {
    timer = setTimeout(() => {
      look()
        .then(
          () => {
            failing = false;
          },
          (error: unknown) => {
            // Logged once per outage, not twice a second.
            if (!failing && !stopped)
              logger.warn({ error: String(error) }, 'facts of other processes are not read');
            failing = true;
          },
        )
        .finally(() => {
          if (!stopped) schedule(deps.everyMs ?? LOOK_EVERY_MS);
        });
    }, afterMs);
    timer.unref();
  }

  return {
    look,
    start() {
      schedule(0);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
    async purge(nowMs) {
      return OutboxEvent.query(db)
        .delete()
        .where('createdAt', '<', nowMs - KEEP_MS);
    },
  };
}

function isOutsideFact(name: string): name is OutsideFactName {
  return name in OUTSIDE_FACTS;
}

function emit(events: EventBus, name: OutsideFactName, fact: unknown): void {
  switch (name) {
    case 'idea.changed':
      events.emit(name, OUTSIDE_FACTS[name].parse(fact));
      return;
    default:
      events.emit(name, OUTSIDE_FACTS[name].parse(fact));
  }
}
