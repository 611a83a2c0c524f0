import { z } from 'zod';
import { captionStyle } from '../caption-styles.ts';
import { CAPTION_LIMITS, captionAxis, videoCue, videoCues } from '../captions.ts';
import { defineEndpoint, idParams, messageBody } from './endpoint.ts';

/** The current captions of a video. */
export const captionsDto = z.object({
  /** Rises with every save; 0: nobody has edited what the repair timed. */
  revision: z.number().int().min(0),
  cues: z.array(videoCue),
  /** The clip that the times refer to: that of the current version. */
  axis: captionAxis,
  /** How much later than on that axis the current version is heard, ms: its sound was moved by hand. */
  soundMovedMs: z.number().int().default(0),
  /** Time of the last save. */
  updatedAt: z.string().nullable(),
});
export type CaptionsDto = z.infer<typeof captionsDto>;

/** The captions with what else the editor needs: where somebody speaks, as the repair measured it. */
export const captionsPageDto = captionsDto.extend({
  speech: z.array(z.object({ startMs: z.number(), endMs: z.number() })),
  /** Null when nothing has been measured. */
  hasSound: z.boolean().nullable(),
});
export type CaptionsPageDto = z.infer<typeof captionsPageDto>;

/** A refused save (409) carries what was saved meanwhile. */
export const captionsConflict = z.object({ newer: captionsDto });

/** The file with captions drawn into the picture: the newest request for one, and the existing file. */
export const burnedCaptionsDto = z.object({
  run: z
    .object({
      style: captionStyle,
      state: z.enum(['waiting', 'working', 'done', 'failed', 'cancelled']),
      /** Whole percent of the work, measured. */
      progress: z.number().int().min(0).max(100),
      /** Why it failed, or why it is waiting. */
      message: z.string().nullable(),
    })
    .nullable(),
  file: z
    .object({
      style: captionStyle,
      createdAt: z.string(),
      sizeBytes: z.number(),
      /** False when another version of the clip has become current. */
      ofCurrent: z.boolean(),
      /** False when the words have changed since. */
      ofWords: z.boolean(),
    })
    .nullable(),
});
export type BurnedCaptionsDto = z.infer<typeof burnedCaptionsDto>;

/** What the operator's speech engine heard. The editor offers it, and it never changes captions that people saved. */
export const heardWordsDto = z.object({
  /** Whether an engine is set up. */
  engine: z.boolean(),
  state: z.enum(['none', 'waiting', 'working', 'done', 'failed', 'cancelled']),
  /** Whole percent of the speech, measured. */
  progress: z.number().int().min(0).max(100),
  /** Why it failed, or why there are no words. */
  message: z.string().nullable(),
  cues: z.array(videoCue),
});
export type HeardWordsDto = z.infer<typeof heardWordsDto>;

/** The limit allows for cues of 500 characters in any script, with their times. */
const MOST_BYTES = CAPTION_LIMITS.cues * (CAPTION_LIMITS.chars * 4 + 200);

export const captionsApi = {
  read: defineEndpoint({
    method: 'GET',
    path: '/api/videos/:id/captions',
    summary: 'Captions of a video: cues with their words, and where speech was found.',
    params: idParams,
    response: captionsPageDto,
  }),
  save: defineEndpoint({
    method: 'PUT',
    path: '/api/videos/:id/captions',
    summary:
      'Saves all cues. `revision` is the one they were made from; 409 with the newer captions when others were saved meanwhile.',
    params: idParams,
    /** Without `axis` the times are those of the current version; `soundMovedMs` is that of the read captions. */
    body: z.object({
      revision: z.number().int().min(0),
      cues: videoCues,
      axis: captionAxis.optional(),
      soundMovedMs: z.number().int().optional(),
    }),
    maxBodyBytes: MOST_BYTES,
    response: captionsDto.omit({ cues: true, axis: true, soundMovedMs: true }),
  }),
  burned: defineEndpoint({
    method: 'GET',
    path: '/api/videos/:id/captions/burned',
    summary: 'The file with captions drawn into the picture, and the newest wish for one.',
    params: idParams,
    response: burnedCaptionsDto,
  }),
  burn: defineEndpoint({
    method: 'POST',
    path: '/api/videos/:id/captions/burned',
    summary:
      'Makes a file with the saved captions drawn into the picture; the clip stays as it is (plan Creator Pro and up).',
    params: idParams,
    body: z.object({ style: captionStyle }),
    response: burnedCaptionsDto,
  }),
  cancelBurn: defineEndpoint({
    method: 'POST',
    path: '/api/videos/:id/captions/burned/cancel',
    summary:
      'Stops the file with captions that waits or is being made; an earlier one stays. Without any it changes nothing; the answer says how the newest wish ended.',
    params: idParams,
    response: burnedCaptionsDto,
  }),
  removeBurned: defineEndpoint({
    method: 'DELETE',
    path: '/api/videos/:id/captions/burned',
    summary: 'Deletes the file with captions in the picture.',
    params: idParams,
    response: messageBody,
  }),
  heard: defineEndpoint({
    method: 'GET',
    path: '/api/videos/:id/captions/heard',
    summary: 'What the speech engine of this server heard, and how far it is.',
    params: idParams,
    response: heardWordsDto,
  }),
  hear: defineEndpoint({
    method: 'POST',
    path: '/api/videos/:id/captions/heard',
    summary: 'Has the speech engine listen; 501 where the operator has set up none.',
    params: idParams,
    response: heardWordsDto,
  }),
  cancelHearing: defineEndpoint({
    method: 'POST',
    path: '/api/videos/:id/captions/heard/cancel',
    summary:
      'Stops the speech engine that waits or listens; what it heard before stays. Without any it changes nothing.',
    params: idParams,
    response: heardWordsDto,
  }),
} as const;

/** Address of the file with captions in the picture; a plain link. */
export const burnedCaptionsPath = '/api/videos/:id/captions/burned/download';

/** The captions as a SubRip file; the WebVTT file is in `mediaPaths`. */
export const subRipPath = '/api/videos/:id/captions.srt';
/** The captions of a shared video, for any visitor. */
export const sharedCaptionsPath = '/api/shared/:id/captions';
