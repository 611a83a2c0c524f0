import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { authApi } from './auth.ts';
import { draftsApi } from './drafts.ts';
import { ideasApi } from './ideas.ts';
import { storylineApi } from './storyline.ts';
import { uploadsApi } from './uploads.ts';
import { videosApi } from './videos.ts';

const video = {
  id: 'a1b2c3d4e5',
  originalFileName: 'harbour.mp4',
  fileSize: 1024,
  status: 'completed',
  createdAt: '2026-05-04T10:00:00.000Z',
};
const issues = {
  stutteredCuts: 2,
  audioSyncIssues: true,
  droppedFrames: 0,
  corruptedSections: 0,
  windNoise: false,
};

// Answers with only what sections 3 and 7 of the specification name.
const ANSWERS: Readonly<Record<string, readonly [{ readonly response: z.ZodType }, unknown]>> = {
  'a user': [authApi.currentUser, { user: { username: 'mara', email: 'mara@example.test' } }],
  'a user without name or address': [authApi.currentUser, { user: {} }],
  'a user with parts of another kind': [
    authApi.currentUser,
    { user: { id: 7, username: null, email: 'zoe@example.test', plan: 'gold' } },
  ],
  'an upload address': [uploadsApi.uploadUrl, { uploadUrl: 'https://storage.example/1' }],
  'a new video': [uploadsApi.uploadComplete, { videoId: 'a1' }],
  'videos, new and finished': [
    videosApi.list,
    [video, { ...video, issues, fixesApplied: { cuts: 2, sync: true } }],
  ],
  'a video of an unknown state and step': [
    videosApi.list,
    [{ ...video, status: 'archived', currentStep: 'done' }],
  ],
  'a status': [videosApi.status, { status: 'processing', progress: 40, currentStep: 'exporting' }],
  'a failure without a message': [videosApi.status, { status: 'failed' }],
  stats: [videosApi.stats, { videosProcessed: 1, draftsSaved: 1, issuesFixed: 3, timeSaved: '0h' }],
  drafts: [
    draftsApi.list,
    [{ id: 'd1', videoId: 'a1', fileName: 'a.mp4', lastModified: '2026-05-04T10:00:00Z' }],
  ],
  'applied fixes': [videosApi.applyFixes, { fixesApplied: 2 }],
  ideas: [
    ideasApi.list,
    [{ id: 'i1', text: 'More', userName: 'Anonymous', createdAt: '2026-05-04T10:00:00Z' }],
  ],
  leaders: [ideasApi.leaderboard, [{ id: 'u1', username: 'mara' }]],
  'a storyline with times as numbers': [
    storylineApi.get,
    {
      title: 'A day',
      summary: 'Short',
      confidence: 80,
      genre: 'Vlog',
      mood: 'Calm',
      themes: ['sea'],
      characters: [{ name: 'Mara', description: 'Sails', appearances: [3] }],
      scenes: [
        {
          timestamp: 0,
          duration: 4,
          description: 'A boat',
          emotions: [],
          keyObjects: ['boat'],
          actions: ['sails'],
        },
      ],
    },
  ],
};

describe('answers that contain only what the specification names', () => {
  it.each(Object.entries(ANSWERS))('are accepted: %s', (_name, [{ response }, answer]) => {
    expect(response.safeParse(answer).error?.message).toBeUndefined();
  });

  it('leave nothing undefined', () => {
    expect(videosApi.list.response.parse([video])[0]).toMatchObject({
      issues: null,
      fixesApplied: {},
      progress: 0,
    });
    expect(videosApi.status.response.parse({ status: 'failed' })).toMatchObject({
      errorMessage: null,
      version: 0,
    });
  });
});
