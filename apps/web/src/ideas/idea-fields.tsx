import { Stack, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { faultsOf, type IdeaText } from './idea-text.ts';

export interface IdeaFieldsProps {
  value: IdeaText;
  onChange: (value: IdeaText) => void;
  /** Show what is missing; not before the first attempt to save. */
  checked: boolean;
}

/** Title, text and tags. */
export function IdeaFields({ value, onChange, checked }: IdeaFieldsProps) {
  const { t } = useTranslation();
  const faults = checked ? faultsOf(value) : {};
  return (
    <Stack>
      <TextInput
        label={t('idea.title')}
        placeholder={t('idea.titlePlaceholder')}
        required
        name="title"
        value={value.title}
        onChange={(event) => onChange({ ...value, title: event.currentTarget.value })}
        error={faults.title ? t(`idea.${faults.title}`) : null}
      />
      <Textarea
        label={t('idea.text')}
        placeholder={t('idea.textPlaceholder')}
        required
        name="text"
        autosize
        minRows={8}
        maxRows={24}
        value={value.text}
        onChange={(event) => onChange({ ...value, text: event.currentTarget.value })}
        error={faults.text ? t(`idea.${faults.text}`) : null}
      />
      <TagsInput
        label={t('idea.tags')}
        description={t('idea.tagsHint')}
        name="tags"
        splitChars={[',', '，', '、']}
        clearable={false}
        value={value.tags}
        onChange={(tags) => onChange({ ...value, tags })}
        error={faults.tags ? t(`idea.${faults.tags}`) : null}
      />
    </Stack>
  );
}

/** Moves the focus to the first field that is not right. */
export function focusFirstFault(form: HTMLFormElement, value: IdeaText): void {
  const first = Object.keys(faultsOf(value))[0];
  form.querySelector<HTMLElement>(`[name="${first}"]`)?.focus();
}
