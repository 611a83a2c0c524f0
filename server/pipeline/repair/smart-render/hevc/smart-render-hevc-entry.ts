import { HevcError } from '#server/media/hevc/hevc-error.ts';
import { withHevcParameterSets } from '#server/media/hevc/hevc-config.ts';
import { HEVC_NAL, hevcNalType } from '#server/media/hevc/hevc-nal.ts';
import { withEntryBox } from '#server/media/mp4/sample-entry.ts';
import { generalOf } from './smart-render-hevc-encode.ts';
import type { HevcSource } from './smart-render-hevc-source.ts';

/** Profile, tier and level of the clip's own sequence, as bytes. */
function ownGeneral(source: HevcSource): Buffer {
  const own = source.parameterSets.find((unit) => hevcNalType(unit) === HEVC_NAL.sps);
  if (!own) throw new HevcError('The video track has no decoder settings.');
  return generalOf(own);
}

/**
 * The sample description with additional parameter sets.
 * @param general profile, tier and level of the pictures that use them; the clip's own by default
 */
export function entryWithSets(
  source: HevcSource,
  sets: readonly Buffer[],
  general = ownGeneral(source),
): Buffer {
  return withEntryBox(source.entry, 'hvcC', withHevcParameterSets(source.config, sets, general));
}
