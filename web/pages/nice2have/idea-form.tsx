import { useId } from 'react';
import styled from 'styled-components';
import { IDEA_NAME_MAX, IDEA_TEXT_MAX } from '#common/limits.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Field, Input } from '../../components/field.tsx';
import { useIdeaDraft } from '../../data/ideas/idea-draft.ts';
import { useSimilarIdeas, useSubmitIdea } from '../../data/ideas/ideas.ts';
import { useShowToast } from '../../data/toasts.ts';
import { ideaTexts } from '../../texts/ideas.ts';
import { colour, space, text } from '../../theme.ts';

const { form: texts } = ideaTexts;
const COUNT_FROM_LEFT = 200;

const Form = styled.form`
  display: grid;
  gap: ${space(2)};
  h2 {
    font-size: ${text.xl};
  }
  label {
    font-size: ${text.s};
    font-weight: 600;
  }
`;
const Area = styled(Input).attrs({ as: 'textarea' })`
  min-height: 132px;
  padding-block: ${space(1.25)};
  resize: vertical;
`;
/* The same distance from the label as in the other field. */
const Labelled = styled.div`
  display: grid;
  gap: ${space(0.75)};
`;
const Small = styled.p`
  font-size: ${text.s};
  color: ${colour.inkFaint};
`;
const Similar = styled.div`
  font-size: ${text.s};
  color: ${colour.inkSoft};
  ul {
    display: grid;
    gap: ${space(0.5)};
    margin-top: ${space(0.5)};
  }
  li {
    padding-left: ${space(1.5)};
    border-left: 2px dashed ${colour.chalk};
  }
  /* Enough to recognise the idea, which may have 2000 characters; the button is below. */
  li > span {
    display: -webkit-box;
    overflow: hidden;
    overflow-wrap: anywhere;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 2;
  }
`;

/** Form of the left column; blank text is refused before anything is sent. */
export function IdeaForm() {
  const areaId = useId();
  const { draft, change } = useIdeaDraft();
  const { name, text: idea } = draft;
  const submit = useSubmitIdea();
  const showToast = useShowToast();
  // A sent idea reaches the board before its answer, and must not be listed as similar to itself.
  const similar = useSimilarIdeas(submit.isPending ? '' : idea);
  const left = IDEA_TEXT_MAX - idea.length;
  const send = (): void => {
    const trimmed = idea.trim();
    if (!trimmed) {
      showToast({ title: texts.blankTitle, description: texts.blankText, tone: 'destructive' });
      return;
    }
    submit.mutate(
      { text: trimmed, userName: name.trim() || texts.anonymous },
      { onSuccess: () => change({ name: '', text: '' }) },
    );
  };
  return (
    <Card>
      <Form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!submit.isPending) send();
        }}
      >
        <h2>{texts.title}</h2>
        <Field
          label={texts.name}
          placeholder={texts.namePlaceholder}
          maxLength={IDEA_NAME_MAX}
          value={name}
          onChange={(event) => change({ name: event.target.value })}
          autoComplete="nickname"
        />
        <Labelled>
          <label htmlFor={areaId}>{texts.idea}</label>
          <Area
            id={areaId}
            required
            maxLength={IDEA_TEXT_MAX}
            placeholder={texts.ideaPlaceholder}
            value={idea}
            onChange={(event) => change({ text: event.target.value })}
          />
          {left <= COUNT_FROM_LEFT && <Small>{texts.left(left)}</Small>}
        </Labelled>
        <div aria-live="polite">
          {similar.length > 0 && (
            <Similar>
              {texts.similar}
              <ul>
                {similar.map(({ id, text: known }) => (
                  <li key={id}>
                    <span dir="auto">{known}</span>
                  </li>
                ))}
              </ul>
            </Similar>
          )}
        </div>
        <Button type="submit" disabled={submit.isPending}>
          {submit.isPending ? texts.submitting : texts.submit}
        </Button>
        <Small>{texts.note}</Small>
      </Form>
    </Card>
  );
}
