import { Kbd, Modal, Table } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** What the keyboard can do. */
export function ShortcutsDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const rows: Array<[keys: string[], what: string]> = [
    [['/', 'Ctrl K'], t('shortcuts.find')],
    [['n'], t('shortcuts.newIdea')],
    [['1', '2', '3', '4', '5'], t('shortcuts.rate')],
    [['?'], t('shortcuts.help')],
    [['Esc'], t('shortcuts.close')],
  ];
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t('shortcuts.title')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <Table>
        <Table.Tbody>
          {rows.map(([keys, what]) => (
            <Table.Tr key={what}>
              <Table.Th scope="row" fw="normal">
                {what}
              </Table.Th>
              <Table.Td ta="right">
                {keys.map((key) => (
                  <Kbd key={key} ml="xs">
                    {key}
                  </Kbd>
                ))}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
