import type { PersonContent } from './types.ts';

const person = (
  email: string,
  name: string,
  temper: number,
  role: 'user' | 'admin' = 'user',
): PersonContent => ({ email: `${email}@sparkroom.example`, name, temper, role });

/** The twenty people of the demo, by the short name that the content uses. */
export const people: Record<string, PersonContent> = {
  helen: person('admin', 'Helen Okafor', 0, 'admin'),
  mara: person('user0', 'Mara Lindqvist', 0.1),
  jiahao: person('user1', '陈嘉豪', 0.5),
  tom: person('user2', 'Tom Aldridge', -0.9),
  siyu: person('user3', '李思雨', 0),
  priya: person('user4', 'Priya Raman', 0.3),
  jianguo: person('user5', '王建国', -0.8),
  jonas: person('user6', 'Jonas Weber', -0.4),
  yutong: person('user7', '赵雨桐', 0.7),
  sofia: person('user8', 'Sofia Marchetti', 0.9),
  wenbo: person('user9', '周文博', -0.2),
  daniel: person('daniel.osei', 'Daniel Osei', 0.4),
  grace: person('grace.whitfield', 'Grace Whitfield', -0.3),
  lars: person('lars.henriksen', 'Lars Henriksen', -0.6),
  zimo: person('huang.zimo', '黄子墨', 0.2),
  jingyi: person('xu.jingyi', '徐静怡', 0.6),
  emma: person('emma.doyle', 'Emma Doyle', 0.2),
  rafael: person('rafael.costa', 'Rafael Costa', 0.8),
  haoran: person('sun.haoran', '孙浩然', -0.5),
  nadia: person('nadia.haddad', 'Nadia Haddad', 0),
};
