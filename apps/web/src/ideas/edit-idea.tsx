import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { reasonOf } from '@sparkroom/client';
import type { Idea } from '@sparkroom/contract';
import { troubleText } from '@sparkroom/ui';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client, queryClient, trpc } from '../api/client.ts';
import { troubleOf } from '../api/trouble.ts';
import { useMe } from '../session/me.tsx';
import { useKept } from '../session/use-kept.ts';
import { notifyDone } from '../shell/notify.ts';
import { ConflictPanel } from './conflict-panel.tsx';
import { DiffText } from './diff-text.tsx';
import { focusFirstFault, IdeaFields } from './idea-fields.tsx';
import { faultsOf, type IdeaText } from './idea-text.ts';

interface Edit {
  /** The version that was read before writing. */
  version: number;
  idea: IdeaText;
}

const textOf = (idea: Idea): IdeaText => ({ title: idea.title, text: idea.body.text, tags: idea.tags });

/** Edits an idea. A stale edit shows both versions and loses neither. */
export function EditIdea({ idea, onDone }: { idea: Idea; onDone: () => void }) {
  const { t } = useTranslation();
  const me = useMe();
  const [initial] = useState<Edit>(() => ({ version: idea.version, idea: textOf(idea) }));
  const kept = useKept<Edit>(`${me.id}.edit.${idea.id}`, initial);
  const [checked, setChecked] = useState(false);
  const [theirs, setTheirs] = useState<Idea | null>(null);
  const [merging, setMerging] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const edit = kept.value;

  const finish = (stored: Idea) => {
    kept.forget();
    queryClient.setQueryData(trpc.ideas.get.queryKey({ id: idea.id }), stored);
    void queryClient.invalidateQueries({ queryKey: trpc.ideas.list.pathKey() });
    void queryClient.invalidateQueries({ queryKey: trpc.ideas.ranking.pathKey() });
    void queryClient.invalidateQueries({ queryKey: trpc.ideas.history.pathKey() });
    void queryClient.invalidateQueries({ queryKey: trpc.me.contributions.pathKey() });
    onDone();
  };
  const save = useMutation({
    mutationFn: (version: number) =>
      client.ideas.update.mutate({
        id: idea.id,
        version,
        title: edit.idea.title,
        body: { text: edit.idea.text },
        tags: edit.idea.tags,
      }),
    onSuccess: (stored) => {
      notifyDone(t('common.saved'));
      finish(stored);
    },
    onError: async (error) => {
      if (reasonOf(error) !== 'VERSION_CONFLICT') return;
      setMerging(false);
      setTheirs(await client.ideas.get.query({ id: idea.id }));
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (Object.keys(faultsOf(edit.idea)).length === 0) save.mutate(edit.version);
    else if (form.current) focusFirstFault(form.current, edit.idea);
  };

  if (theirs && !merging) {
    return (
      <ConflictPanel
        theirs={theirs}
        mine={edit.idea}
        busy={save.isPending}
        onKeepMine={() => save.mutate(theirs.version)}
        onTakeTheirs={() => finish(theirs)}
        onMerge={() => {
          kept.set({ ...edit, version: theirs.version });
          setMerging(true);
        }}
      />
    );
  }
  const conflict = reasonOf(save.error) === 'VERSION_CONFLICT';
  const refused = save.error && !conflict ? troubleText(t, troubleOf(save.error)) : null;
  return (
    <form ref={form} onSubmit={submit} noValidate aria-label={t('idea.edit')}>
      <Stack>
        {refused ? (
          <Alert color="red" role="alert" title={refused.title}>
            {refused.text}
          </Alert>
        ) : null}
        {merging && theirs ? (
          <Alert title={t('conflict.merging')}>
            <Text fw={600}>{t('conflict.theirs')}</Text>
            <Text>{theirs.title}</Text>
            <DiffText before={edit.idea.text} after={theirs.body.text} />
          </Alert>
        ) : null}
        <IdeaFields
          value={edit.idea}
          onChange={(value) => kept.set({ ...edit, idea: value })}
          checked={checked}
        />
        <Group>
          <Button type="submit" loading={save.isPending}>
            {t('common.save')}
          </Button>
          <Button
            variant="default"
            onClick={() => {
              kept.forget();
              onDone();
            }}
          >
            {t('common.cancel')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
