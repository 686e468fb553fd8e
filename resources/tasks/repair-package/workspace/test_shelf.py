import unittest

import shelf


class Test(unittest.TestCase):
    def test_spaces_do_not_count(self):
        self.assertEqual(shelf.parse("a1 , 2, 1.50"), [("A1", 2, 1.5)])

    def test_few_pieces_first(self):
        self.assertEqual(shelf.reorder([("A", 3, 1.0), ("B", 1, 1.0), ("C", 9, 1.0)], 4), ["B", "A"])

    def test_the_first_page(self):
        self.assertEqual(shelf.page([1, 2, 3], 1, 2), [1, 2])


if __name__ == "__main__":
    unittest.main()
