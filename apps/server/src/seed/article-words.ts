import { clients } from './content/index.ts';
import type { Random } from './random.ts';

const isChinese = (text: string): boolean => /\p{Script=Han}/u.test(text);

interface Words {
  titles: string[];
  sentences: string[];
  reasons: string[];
  tags: string[];
  workspaces: string[];
}

/** The demo's own sentences by language: the large set is for measuring, but its texts have real lengths and letters. */
function wordsOf(chinese: boolean): Words {
  const ideas = clients
    .flatMap((client) => client.workspaces.flatMap((workspace) => workspace.ideas))
    .filter((idea) => isChinese(idea.title) === chinese);
  const split = (text: string): string[] =>
    [...new Intl.Segmenter(chinese ? 'zh' : 'en', { granularity: 'sentence' }).segment(text)]
      .map(({ segment }) => segment.trim())
      .filter((sentence) => sentence !== '');
  return {
    titles: ideas.map((idea) => idea.title),
    sentences: ideas.flatMap((idea) => split(idea.text)),
    reasons: ideas.filter((i) => i.status === 'declined').flatMap((i) => i.reason ?? []),
    tags: [...new Set(ideas.flatMap((idea) => idea.tags ?? []))],
    workspaces: clients
      .flatMap((c) => c.workspaces.map((w) => w.name))
      .filter((n) => isChinese(n) === chinese),
  };
}

const english = wordsOf(false);
const chinese = wordsOf(true);
const wordsFor = (random: Random): Words => (random.chance(0.6) ? english : chinese);

/** Title, text of two to seven sentences, up to three tags and a reason, all in one language. */
export function articleText(random: Random): { title: string; text: string; tags: string[]; reason: string } {
  const words = wordsFor(random);
  return {
    title: random.pick(words.titles),
    text: random.sample(words.sentences, random.int(2, 7)).join(words === english ? ' ' : ''),
    tags: random.sample(words.tags, random.int(0, 3)),
    reason: random.pick(words.reasons),
  };
}

export const articleWorkspaceName = (random: Random): string =>
  `${random.pick(wordsFor(random).workspaces)} ${random.int(2024, 2028)}`;

const firstNames =
  'Amelia Anton Beatriz Bruno Carla Chidi Dara Diego Elin Emil Fatima Felix Greta Hugo Ida Ivan Jana Joel Kaya Kofi Lena Luca Maja Milan Nina Noor Olga Oscar Petra Quentin Rosa Ruben Selma Simon Tara Theo Uma Vera Viktor Yara'.split(
    ' ',
  );
const lastNames =
  'Abara Andersson Bakker Becker Costa Dubois Eriksen Farrell Fischer Gallo Haas Ibrahim Jansen Keller Kowalski Larsen Lopez Marino Meyer Nair Novak Okeke Olsen Palmer Petrov Quist Rossi Santos Schmidt Silva Tanaka Urban Vogel Walsh Weiss Young Zeman'.split(
    ' ',
  );
const chineseFamily = '王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗';
const chineseGiven = '明华丽强敏静磊洋艳勇军杰娟涛超霞平刚桂英文辉玲建国欣怡子涵宇轩梓萱浩然';

export function articlePersonName(random: Random): string {
  if (random.chance(0.4)) {
    const given = random.pick([...chineseGiven]) + (random.chance(0.7) ? random.pick([...chineseGiven]) : '');
    return random.pick([...chineseFamily]) + given;
  }
  return `${random.pick(firstNames)} ${random.pick(lastNames)}`;
}

const places =
  'Aalborg Antwerp Basel Bergen Bilbao Bristol Cork Dresden Eindhoven Florence Geneva Ghent Graz Haarlem Kassel Leeds Leipzig Lille Linz Lucerne Malmö Nantes Odense Oporto Parma Reims Seville Tampere Trieste Turin Umeå Utrecht Valencia Verona Zurich'.split(
    ' ',
  );
const trades =
  'Alloys|Bakeries|Bearings|Ceramics|Chemicals|Dairies|Elevators|Fasteners|Foods|Freight|Glass|Hotels|Insurance|Instruments|Logistics|Machines|Marine|Mills|Optics|Packaging|Paints|Paper|Pharma|Plastics|Power|Pumps|Rail|Retail|Robotics|Seeds|Shipping|Steel|Textiles|Timber|Tools|Valves'.split(
    '|',
  );
const chinesePlaces =
  '鞍山 包头 常州 大连 东莞 佛山 福州 桂林 哈尔滨 海口 杭州 合肥 济南 昆明 兰州 洛阳 南昌 南宁 南通 宁波 青岛 泉州 厦门 绍兴 沈阳 苏州 太原 温州 无锡 武汉 徐州 烟台 扬州 郑州 珠海'.split(
    ' ',
  );
const chineseTrades =
  '包装 玻璃 不锈钢 船舶 电缆 电气 纺织 服饰 钢构 光学 航运 化工 机床 家居 建材 冷链 粮油 模具 农机 汽配 轻工 乳业 食品 饲料 水泵 塑料 陶瓷 涂料 物流 医药 饮料 轴承 制药 种业 重工 装备'.split(
    ' ',
  );

/** Every number below 7,560 has a name of its own: 35 places, 36 trades, three forms in each of two languages. */
export function articleClientName(i: number): string {
  const place = i % 35;
  const trade = Math.floor(i / 35) % 36;
  const form = Math.floor(i / (35 * 36)) % 6;
  const round = Math.floor(i / (35 * 36 * 6));
  const suffix = round === 0 ? '' : ` ${round + 1}`;
  if (form < 3) return `${places[place]} ${trades[trade]} ${['AG', 'Group', '& Sons'][form]}${suffix}`;
  return `${chinesePlaces[place]}${chineseTrades[trade]}${['集团', '有限公司', '股份'][form - 3]}${suffix}`;
}
