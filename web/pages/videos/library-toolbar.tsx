import styled from 'styled-components';
import { DEFECT_FILTERS, VIDEO_SORTS } from '#common/api/videos.ts';
import { VIDEO_STATUSES } from '#common/video.ts';
import { Icon } from '../../components/icons.tsx';
import { SelectBox } from '../../components/select-box.tsx';
import type { Arrangement } from '../../data/videos/arrange-videos.ts';
import { videoTexts } from '../../texts/videos.ts';
import { colour, radius, space, text, visuallyHidden } from '../../theme.ts';

const { library: texts } = videoTexts;

const Bar = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(1)};
`;
const Search = styled.label`
  position: relative;
  flex: 1 1 220px;
  svg {
    position: absolute;
    left: 12px;
    top: 12px;
    color: ${colour.inkFaint};
  }
  span {
    ${visuallyHidden}
  }
  input {
    padding-left: 42px;
  }
`;
const Control = styled.input`
  width: 100%;
  min-height: 44px;
  padding: 0 ${space(1.5)};
  border: 1px solid ${colour.lineStrong};
  border-radius: ${radius.s};
  background: ${colour.raised};
  font-size: ${text.s};
  &::placeholder {
    color: ${colour.inkFaint};
  }
`;
const Filter = styled(SelectBox)`
  width: 100%;
  font-size: ${text.s};
`;
const Choice = styled.label`
  flex: 1 1 120px;
  span {
    ${visuallyHidden}
  }
`;

interface SelectProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly text: string }[];
  readonly onChoose: (value: Value) => void;
}

function Select<Value extends string>({ label, value, options, onChoose }: SelectProps<Value>) {
  return (
    <Choice>
      <span>{label}</span>
      <Filter
        $ground="raised"
        value={value}
        onChange={(event) => {
          const chosen = options.find((option) => option.value === event.target.value);
          if (chosen) onChoose(chosen.value);
        }}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </Filter>
    </Choice>
  );
}

const STATUSES = [
  { value: 'all', text: `${texts.filterStatus}: ${texts.all}` },
  ...VIDEO_STATUSES.map((status) => ({ value: status, text: videoTexts.status[status] })),
] as const;
const DEFECT_NAMES = {
  all: `${texts.filterDefect}: ${texts.all}`,
  stutteredCuts: videoTexts.defects.stuttered_cut,
  audioSyncIssues: videoTexts.defects.audio_sync,
  droppedFrames: videoTexts.defects.dropped_frames,
  corruptedSections: videoTexts.defects.corrupted_section,
  windNoise: videoTexts.defects.wind_noise,
  none: texts.noDefect,
} as const;

interface LibraryToolbarProps {
  readonly arrangement: Arrangement;
  readonly onArrange: (arrangement: Arrangement) => void;
}

/** Search, order and filters of the library. */
export function LibraryToolbar({ arrangement, onArrange }: LibraryToolbarProps) {
  const change = (patch: Partial<Arrangement>): void => onArrange({ ...arrangement, ...patch });
  return (
    <Bar role="search">
      <Search>
        <Icon name="search" />
        <span>{texts.search}</span>
        <Control
          type="search"
          placeholder={texts.search}
          value={arrangement.search}
          onChange={(event) => change({ search: event.target.value })}
        />
      </Search>
      <Select
        label={texts.sort}
        value={arrangement.sort}
        options={VIDEO_SORTS.map((sort) => ({ value: sort, text: texts.sorts[sort] }))}
        onChoose={(sort) => change({ sort })}
      />
      <Select
        label={texts.filterStatus}
        value={arrangement.status}
        options={STATUSES}
        onChoose={(status) => change({ status })}
      />
      <Select
        label={texts.filterDefect}
        value={arrangement.defect}
        options={(['all', ...DEFECT_FILTERS] as const).map((defect) => ({
          value: defect,
          text: DEFECT_NAMES[defect],
        }))}
        onChoose={(defect) => change({ defect })}
      />
    </Bar>
  );
}
