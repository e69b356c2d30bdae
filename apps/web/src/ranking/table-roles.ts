/**
 * Roles of a table, said aloud. On narrow screens the rows are laid out as blocks and grids, and browsers may then take
 * a table for mere text; the explicit role keeps rows, columns and headers for those who cannot see them.
 */
export const tableRoles = {
  table: { role: 'table' },
  group: { role: 'rowgroup' },
  row: { role: 'row' },
  columnHeader: { role: 'columnheader', scope: 'col' },
  rowHeader: { role: 'rowheader', scope: 'row' },
  groupHeader: { role: 'rowheader', scope: 'rowgroup' },
  cell: { role: 'cell' },
} as const;
