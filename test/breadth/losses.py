# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses with each reduction."""

import torch
import torch.nn.functional as F
from torch import nn, randint, randn

from .registry import Function, case

REDUCTIONS = ("none", "mean", "sum")
SMALL, LARGE = (6, 9), (8192, 4096)


def loss(name, make, inputs, small=SMALL, large=LARGE, reductions=REDUCTIONS, bf16=True):
    """A case per reduction; `inputs` draws them from sizes."""
    for reduction in reductions:
        @case(small, large, name=f"{name}_{reduction}", bf16=bf16)
        def build(*sizes, reduction=reduction):
            return make(reduction), *inputs(*sizes)


def pair(n, d):
    return randn(n, d), randn(n, d)


def signs(*sizes):
    return randint(0, 2, sizes).float() * 2 - 1


def coins(*sizes):
    return randint(0, 2, sizes).float()


loss("mse", lambda r: nn.MSELoss(reduction=r), pair)
loss("l1", lambda r: nn.L1Loss(reduction=r), pair)
loss("smooth_l1", lambda r: nn.SmoothL1Loss(reduction=r, beta=0.5), pair)
loss("huber", lambda r: nn.HuberLoss(reduction=r, delta=0.7), pair)
loss("cross_entropy", lambda r: nn.CrossEntropyLoss(reduction=r),
     lambda n, d: (randn(n, d), randint(0, d, (n,))))
loss("cross_entropy_ignored", lambda r: nn.CrossEntropyLoss(reduction=r, ignore_index=1),
     lambda n, d: (randn(n, d), randint(0, 3, (n,))))
loss("cross_entropy_smoothed", lambda r: nn.CrossEntropyLoss(reduction=r, label_smoothing=0.1),
     lambda n, d: (randn(n, d), randint(0, d, (n,))), reductions=("mean",))
loss("cross_entropy_weighted",
     lambda r: nn.CrossEntropyLoss(torch.linspace(0.5, 1.5, 9), reduction=r),
     lambda n, d: (randn(n, d), randint(0, d, (n,))), large=(1 << 20, 9), reductions=("mean", "sum"))
loss("cross_entropy_probabilities", lambda r: nn.CrossEntropyLoss(reduction=r),
     lambda n, d: (randn(n, d), randn(n, d).softmax(1)))
loss("cross_entropy_of_images", lambda r: nn.CrossEntropyLoss(reduction=r),
     lambda n, c, h, w: (randn(n, c, h, w), randint(0, c, (n, h, w))), (2, 5, 3, 4),
     (8, 21, 256, 256), reductions=("mean", "none"))
loss("nll", lambda r: nn.NLLLoss(reduction=r),
     lambda n, d: (randn(n, d).log_softmax(1), randint(0, d, (n,))))
loss("kl_div", lambda r: nn.KLDivLoss(reduction=r),
     lambda n, d: (randn(n, d).log_softmax(1), randn(n, d).softmax(1)),
     reductions=(*REDUCTIONS, "batchmean"))
loss("kl_div_of_logarithms", lambda r: nn.KLDivLoss(reduction=r, log_target=True),
     lambda n, d: (randn(n, d).log_softmax(1), randn(n, d).log_softmax(1)), reductions=("batchmean",))
loss("bce", lambda r: nn.BCELoss(reduction=r), lambda n, d: (randn(n, d).sigmoid(), coins(n, d)))
loss("bce_with_logits", lambda r: nn.BCEWithLogitsLoss(reduction=r),
     lambda n, d: (randn(n, d), coins(n, d)))
loss("bce_with_positive_weights",
     lambda r: nn.BCEWithLogitsLoss(reduction=r, pos_weight=torch.linspace(1, 3, 9)),
     lambda n, d: (randn(n, d), coins(n, d)), large=(1 << 20, 9), reductions=("mean",))
loss("hinge_embedding", lambda r: nn.HingeEmbeddingLoss(reduction=r),
     lambda n, d: (randn(n, d), signs(n, d)))
loss("soft_margin", lambda r: nn.SoftMarginLoss(reduction=r),
     lambda n, d: (randn(n, d), signs(n, d)))
loss("margin_ranking", lambda r: nn.MarginRankingLoss(0.3, reduction=r),
     lambda n: (randn(n), randn(n), signs(n)), (20,), (1 << 23,))
loss("multi_margin", lambda r: nn.MultiMarginLoss(reduction=r),
     lambda n, d: (randn(n, d), randint(0, d, (n,))), large=(8192, 1024),
     bf16=False)
loss("multilabel_soft_margin", lambda r: nn.MultiLabelSoftMarginLoss(reduction=r),
     lambda n, d: (randn(n, d), coins(n, d)))
loss("triplet", lambda r: nn.TripletMarginLoss(0.5, reduction=r),
     lambda n, d: (randn(n, d), randn(n, d), randn(n, d)), large=(16384, 512))
loss("triplet_of_cosines", lambda r: nn.TripletMarginWithDistanceLoss(
    distance_function=lambda x, y: 1 - F.cosine_similarity(x, y), reduction=r),
     lambda n, d: (randn(n, d), randn(n, d), randn(n, d)), large=(16384, 512), reductions=("mean",))
loss("cosine_embedding", lambda r: nn.CosineEmbeddingLoss(0.1, reduction=r),
     lambda n, d: (randn(n, d), randn(n, d), signs(n)), large=(16384, 1024))
loss("poisson_nll", lambda r: nn.PoissonNLLLoss(reduction=r),
     lambda n, d: (randn(n, d), randint(0, 9, (n, d)).float()))
loss("gaussian_nll", lambda r: nn.GaussianNLLLoss(reduction=r),
     lambda n, d: (randn(n, d), randn(n, d), torch.rand(n, d) + 0.1))


@case(SMALL, LARGE)
def hinge(n, d):
    return Function(lambda x, y: torch.mean(torch.clamp(1 - x * y, min=0))), randn(n, d), signs(n, d)


@case(SMALL, LARGE)
def focal(n, d):
    def function(x, y):
        p = torch.sigmoid(x)
        ce = F.binary_cross_entropy_with_logits(x, y, reduction="none")
        return (ce * (1 - (p * y + (1 - p) * (1 - y))) ** 2).mean()

    return Function(function), randn(n, d), coins(n, d)


@case((2, 3, 4, 5), (16, 4, 512, 512))
def dice(n, c, h, w):
    def function(x, y):
        p = x.softmax(1)
        overlap = (p * y).sum((2, 3))
        return 1 - ((2 * overlap + 1) / (p.sum((2, 3)) + y.sum((2, 3)) + 1)).mean()

    return Function(function), randn(n, c, h, w), coins(n, c, h, w)


@case((6, 8), (4096, 256))
def info_nce(n, d):
    def function(x, y):
        scores = F.normalize(x, dim=1) @ F.normalize(y, dim=1).t() / 0.07
        return F.cross_entropy(scores, torch.arange(n, device=x.device))

    return Function(function), randn(n, d), randn(n, d)


@case((4, 6, 12, 30), (4, 512, 512, 8192))
def language_model(b, t, width, words):
    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(width, words, bias=False)

        def forward(self, hidden, ids):
            logits = self.head(hidden)[:, :-1].flatten(0, 1)
            return F.cross_entropy(logits, ids[:, 1:].flatten())

    return Head(), randn(b, t, width), randint(0, words, (b, t))


@case((6, 9), (4096, 4096))
def distillation(n, classes):
    def function(student, teacher, labels):
        soft = F.kl_div(F.log_softmax(student / 2, 1), F.softmax(teacher / 2, 1), reduction="batchmean")
        return 4 * soft + F.cross_entropy(student, labels)

    return Function(function), randn(n, classes), randn(n, classes), randint(0, classes, (n,))


class OfLinear(nn.Module):
    """A loss of a linear layer, which nothing else reads."""

    def __init__(self, of, k, n):
        super().__init__()
        self.fc, self.of = nn.Linear(k, n), of

    def forward(self, x, *targets):
        return self.of(self.fc(x), *targets)


OF_LINEAR = {
    "relu_sum": (lambda y: y.relu().sum(), lambda m, n: ()),
    "norm": (lambda y: y.norm(), lambda m, n: ()),
    "mse": (F.mse_loss, lambda m, n: (randn(m, n),)),
    "logsumexp": (lambda y: torch.logsumexp(y, -1), lambda m, n: ()),
    "cross_entropy": (F.cross_entropy, lambda m, n: (randint(0, n, (m,)),)),
}
for name, (of, targets) in OF_LINEAR.items():
    @case((6, 16, 24), (8192, 1024, 8192), name=f"linear_{name}")
    def linear(m, k, n, of=of, targets=targets):
        return OfLinear(of, k, n), randn(m, k), *targets(m, n)
