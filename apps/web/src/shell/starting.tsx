import { Container } from '@mantine/core';
import { Skeletons } from '@sparkroom/ui';

/** While the first page's code loads. */
export function Starting() {
  return (
    <Container py="xl">
      <Skeletons count={2} />
    </Container>
  );
}
