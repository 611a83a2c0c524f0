import type { Knex } from 'knex';
import { countFixes, NO_ISSUES, PROCESSING_STEPS } from '#common/video.ts';
import { newId } from '#db/base-model.ts';
import { defectKindsOf } from '#db/video-columns.ts';
import { namesOf } from '#server/videos/create-video.ts';

const START = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;
/** SQLite takes at most 500 rows in one compound insert. */
const BATCH = 200;

/** Inserts finished videos with results, reports and posters, one a minute, for one account. */
export async function seedVideos(db: Knex, userId: string, count: number): Promise<void> {
  const objects: object[] = [];
  const videos: object[] = [];
  const versions: object[] = [];
  const steps = PROCESSING_STEPS.map(({ id }) => ({ step: id, state: 'done', tookMs: 812, note: '' }));
  for (let index = 0; index < count; index += 1) {
    const at = START + index * MINUTE_MS;
    const fixes = { stutteredCuts: index % 4, windNoise: index % 3 === 0 };
    const issues = { ...NO_ISSUES, ...fixes };
    const [videoId, versionId] = [newId(), newId()];
    const [original, result, extra] = [0, 1, 2].map((part) => hexOf(index * 3 + part));
    for (const sha256 of [original, result, extra]) {
      objects.push({ sha256, sizeBytes: 1_000_000 + index, createdAt: at, checkedAt: at, damaged: false });
    }
    videos.push({
      id: videoId,
      userId,
      ...namesOf(`Street interview take ${index}.mp4`),
      fileSize: 1_000_000 + index,
      originalSha256: original,
      currentVersionId: versionId,
      status: index % 50 === 49 ? 'failed' : 'completed',
      progress: 100,
      issues: JSON.stringify(issues),
      defectKinds: defectKindsOf(issues),
      fixesApplied: JSON.stringify(fixes),
      fixesCount: countFixes(fixes),
      steps: JSON.stringify(steps),
      version: 9,
      attempt: 1,
      durationMs: 15_000 + index,
      width: 1080,
      height: 1920,
      isSample: false,
      shared: false,
      createdAt: at,
      updatedAt: at,
      completedAt: at,
    });
    versions.push({
      id: versionId,
      videoId,
      kind: 'repair',
      sha256: result,
      sizeBytes: 900_000 + index,
      reportSha256: extra,
      captionsSha256: null,
      posterSha256: extra,
      createdAt: at,
    });
  }
  await db.batchInsert('stored_objects', objects, BATCH);
  await db.batchInsert('videos', videos, BATCH);
  await db.batchInsert('video_versions', versions, BATCH);
}

/** Inserts ideas of the given authors with 0 to 30 votes each; every fourth has a status. */
export async function seedIdeas(db: Knex, authorIds: readonly string[], count: number): Promise<void> {
  const statuses = ['considering', 'planned', 'in-progress', 'completed'];
  const ideas: object[] = [];
  const votes: object[] = [];
  for (let index = 0; index < count; index += 1) {
    const at = START + index * MINUTE_MS;
    const ideaId = newId();
    const voters = authorIds.slice(0, (index * 7) % Math.min(31, authorIds.length + 1));
    ideas.push({
      id: ideaId,
      userId: authorIds[index % authorIds.length],
      text: `Idea ${index}: let me pick the music that is laid under a clip once its cuts are mended.`,
      userName: 'Anonymous',
      status: index % 4 === 3 ? statuses[(index >> 2) % statuses.length] : null,
      votes: voters.length,
      bonusGiven: voters.length >= 10,
      hidden: false,
      createdAt: at,
      updatedAt: at,
    });
    for (const voter of voters) votes.push({ ideaId: ideaId, userId: voter, createdAt: at });
  }
  await db.batchInsert('ideas', ideas, BATCH);
  await db.batchInsert('idea_votes', votes, BATCH);
}

function hexOf(value: number): string {
  return value.toString(16).padStart(64, '0');
}
