import {
  Alert,
  Button,
  Container,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Textarea,
  TextInput,
} from '@mantine/core';
import { troubleText } from '@sparkroom/ui';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { client, queryClient, trpc } from '../api/client.ts';
import { troubleOf } from '../api/trouble.ts';
import { useMyClients } from '../api/use-pages.ts';
import { PageHeading } from '../shell/page-heading.tsx';

const MOST_NAME = 120;
const MOST_DESCRIPTION = 2000;
const named = (value: string) => value.trim() !== '' && [...value.trim()].length <= MOST_NAME;

/** Opens a workspace for a client that is there or is created with it. */
export function CreateWorkspacePage() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { clients, isPending } = useMyClients();
  const choices = clients.filter((c) => c.archivedAt === null);
  const [kind, setKind] = useState<'existing' | 'new' | null>(null);
  const [clientId, setClientId] = useState<string | null>(null);
  const [clientName, setClientName] = useState('');
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [checked, setChecked] = useState(false);
  const existing = choices.length > 0 && kind !== 'new';
  const clientOk = existing ? clientId !== null : named(clientName);

  const create = useMutation({
    mutationFn: async () => {
      // A client created before a failure is chosen at the next attempt, not created twice.
      let id = existing ? clientId : null;
      if (!id) {
        const made = await client.clients.create.mutate({ name: clientName });
        id = made.id;
        await queryClient.invalidateQueries({ queryKey: trpc.clients.pathKey() });
        setKind('existing');
        setClientId(id);
      }
      return client.workspaces.create.mutate({ clientId: id, name, description });
    },
    onSuccess: async (workspace) => {
      await queryClient.invalidateQueries({ queryKey: trpc.workspaces.pathKey() });
      await navigate(`/w/${workspace.id}`);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (clientOk && named(name)) create.mutate();
  };
  const refused = create.error ? troubleText(t, troubleOf(create.error)) : null;

  return (
    <Container size="sm" mx={0} p={0}>
      <PageHeading title={t('workspace.create')}>{t('workspace.create')}</PageHeading>
      <form onSubmit={submit} noValidate>
        <Stack mt="lg">
          {refused ? (
            <Alert color="red" role="alert" title={refused.title}>
              {refused.text}
            </Alert>
          ) : null}
          {choices.length > 0 ? (
            <SegmentedControl
              aria-label={t('workspace.client')}
              value={existing ? 'existing' : 'new'}
              onChange={(value) => setKind(value === 'new' ? 'new' : 'existing')}
              data={[
                { value: 'existing', label: t('workspace.existingClient') },
                { value: 'new', label: t('workspace.newClient') },
              ]}
            />
          ) : null}
          {existing ? (
            <Select
              label={t('workspace.client')}
              placeholder={t('workspace.clientPlaceholder')}
              searchable
              required
              limit={50}
              value={clientId}
              onChange={setClientId}
              data={choices.map((c) => ({ value: c.id, label: c.name }))}
              error={checked && !clientOk ? t('workspace.needClient') : null}
            />
          ) : (
            <TextInput
              label={t('workspace.clientName')}
              required
              disabled={isPending}
              value={clientName}
              onChange={(event) => setClientName(event.currentTarget.value)}
              error={checked && !clientOk ? t('workspace.needClient') : null}
            />
          )}
          <TextInput
            label={t('workspace.name')}
            placeholder={t('workspace.namePlaceholder')}
            required
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={checked && !named(name) ? t('workspace.needName') : null}
          />
          <Textarea
            label={t('workspace.description')}
            description={t('workspace.descriptionHint')}
            autosize
            minRows={3}
            maxLength={MOST_DESCRIPTION}
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
          />
          <Group>
            <Button type="submit" loading={create.isPending}>
              {t('workspace.createButton')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Container>
  );
}
